#!/usr/bin/env bash
# An archive that is too large, or has a file of NVIDIA's, is removed with the reason.
# usage: check_archive_test.sh CHECK_ARCHIVE
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
pack() { # FILE...: an archive with these
  rm -rf gpu_tests && mkdir -p gpu_tests/lib gpu_tests/bin
  for file in "$@"; do head -c 1000 /dev/urandom >"gpu_tests/$file"; done
  tar czf archive.tar.gz gpu_tests
}
refused() { # WHY
  if bash "$check" archive.tar.gz "${2:-1000000}" >/dev/null 2>said; then echo "$1 is not refused" && exit 1; fi
  grep -q "$1" said || { cat said && exit 1; }
  [[ ! -e archive.tar.gz ]] || { echo "$1: the archive is still there" && exit 1; }
}
pack bin/sterna bin/libsterna_cuda.so lib/libcurl.so.4 lib/libstdc++.so.6
bash "$check" archive.tar.gz >/dev/null
refused 'and 1000 are the most' 1000
for library in libcudart.so.13 libcublasLt.so.13 libcudnn_graph.so.9 libnccl.so.2 libnvrtc.so.13; do
  pack bin/sterna lib/$library
  refused "gpu_tests/lib/$library"
done
echo nothing >archive.tar.gz
refused 'cannot be read'
