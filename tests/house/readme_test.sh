#!/usr/bin/env bash
# What the README, docs/runtime.md and docs/keys.md show is what the tree holds: the projects counter
# and words, and the table of keys, verbatim.
# usage: readme_test.sh SOURCE_DIR STERNA_BINARY
set -eu
status=0
contains() { # page, what, text
  if ! awk -v text="$3" 'BEGIN { RS = "\001" } { found = index($0, text) } END { exit !found }' "$1"; then
    echo "$(basename "$1") does not hold the present $2"
    status=1
  fi
}
for file in counter.capnp main.cc CMakeLists.txt counter.toml; do
  contains "$1/README.md" "tests/outside/counter/$file" "$(cat "$1/tests/outside/counter/$file")"
done
for file in words.capnp words.h main.cc CMakeLists.txt; do
  contains "$1/docs/runtime.md" "tests/outside/words/$file" "$(cat "$1/tests/outside/words/$file")"
done
contains "$1/docs/keys.md" "output of \`sterna help keys --markdown\`" "$("$2" help keys --markdown)"
exit $status
