#!/usr/bin/env bash
# What libsterna_cuda.so is made of: it needs nothing of NVIDIA's, shows one name, is small, and no
# kernel spills registers or has a stack.
# usage: module_test.sh MODULE RESOURCES...    (what ptxas said of each source)
set -euo pipefail
module=$1
shift
status=0
fail() { echo "$*" && status=1; }

needed=$(readelf -d "$module" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
for library in $needed; do
  case $library in
    libstdc++.so.6 | libgcc_s.so.1 | libc.so.6 | libm.so.6 | ld-linux-*.so.*) ;;
    *) fail "it needs $library" ;;
  esac
done
[[ -n $needed ]] || fail "readelf shows nothing that it needs, not even a C library"
if readelf -d "$module" | grep -E '\((RPATH|RUNPATH)\)'; then fail "it has a search path"; fi

names=$(nm -D --defined-only "$module" | sed 's/.* //')
[[ $names == sterna_cuda_module ]] || fail "it shows other names than sterna_cuda_module: $names"

bytes=$(stat -c %s "$module")
((bytes < 12 << 20)) || fail "it has $bytes bytes, 12 MiB are the most"

for architecture in sm_80 sm_90 sm_100; do
  kernels=$(cat "$@" | grep -c "Compiling entry function .* for '$architecture'") || true
  ((kernels >= 16)) || fail "only $kernels kernels are compiled for $architecture"
done
uses=$(cat "$@" | grep 'bytes stack frame' || true)
[[ -n $uses ]] || fail "ptxas says nothing of stacks"
bad=$(cat "$@" | grep -B 2 'bytes stack frame' | grep -B 2 -E '[1-9][0-9]* bytes (stack|spill)' || true)
[[ -z $bad ]] || fail "a kernel has a stack, or spills: $bad"
echo "$(wc -l <<<"$uses") kernels; $bytes bytes"
exit $status
