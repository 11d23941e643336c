#!/usr/bin/env bash
# Fails, and removes the archive, where gpu_tests.tar.gz is more than a card's machine is sent (48 MiB),
# or has a file of NVIDIA's, which nobody may pass on: such machines have their own.
# usage: check_archive.sh ARCHIVE [BYTES]
set -euo pipefail
archive=$1 most=${2:-$((48 << 20))}
refuse() { echo "gpu_tests: $archive $*; it is removed" >&2 && rm -f "$archive" && exit 1; }

listed=$(tar tzf "$archive") || refuse "cannot be read"
nvidias=$(grep -E '(^|/)lib(cu(da|blas|dnn|fft|file|inj|pti|rand|solver|sparse|tensor)|nccl|npp|nv)[^/]*$' <<<"$listed" || true)
[[ -z $nvidias ]] || refuse "has files of NVIDIA's, which make_bundle.cmake must leave out: ${nvidias//$'\n'/ }"
bytes=$(stat -c %s "$archive")
((bytes <= most)) || refuse "has $bytes bytes, and $most are the most: leave out programs or data"
echo "gpu_tests: $bytes of $most bytes, $(wc -l <<<"$listed") files, none of NVIDIA's"
