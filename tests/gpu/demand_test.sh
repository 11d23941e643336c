#!/usr/bin/env bash
# Without a GPU the tests of one are skipped with the reason, and fail where one is demanded.
# usage: demand_test.sh GPU_TESTS_PROGRAM
set -euo pipefail
program=$1
said=$(mktemp)
trap 'rm "$said"' EXIT
export CUDA_VISIBLE_DEVICES= # hides those that there may be
unset STERNA_TEST_GPU
expect() { # status, first line, command...
  local status=0
  "${@:3}" >"$said" || status=$?
  [[ $status == "$1" && $(head -n 1 "$said") == $2 ]] || {
    echo "${*:3}: status $status, and it says:" && cat "$said" && exit 1
  }
}
expect 77 'skipped: *' "$program"
expect 1 'FAILED  no GPU: *' "$program" --gpu
expect 1 'FAILED  no GPU: *' env STERNA_TEST_GPU=1 "$program"
"$program" --json "$said" >/dev/null && exit 1
grep -q '"no_gpu": ".' "$said"
grep -q '"status": "skipped"' "$said"
