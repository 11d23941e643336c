#!/usr/bin/env bash
# What the README shows is what the tree holds: the counter program and the table of keys, verbatim.
# usage: readme_test.sh SOURCE_DIR STERNA_BINARY
set -eu
readme=$1/README.md
status=0
contains() { # what, text
  if ! awk -v text="$2" 'BEGIN { RS = "\001" } { found = index($0, text) } END { exit !found }' "$readme"; then
    echo "README.md does not hold the present $1"
    status=1
  fi
}
contains "tests/runtime/counter_example.cc" "$(cat "$1/tests/runtime/counter_example.cc")"
contains "output of \`sterna help keys --markdown\`" "$("$2" help keys --markdown)"
exit $status
