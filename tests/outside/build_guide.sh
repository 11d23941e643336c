#!/usr/bin/env bash
# Does what docs/runtime.md says, by its two blocks of commands.
# usage: build_guide.sh SOURCE BUILD   exits 77 (skipped) without the right to make namespaces
set -euo pipefail
source=$1 build=$2
. "$source/tests/outside/outside.sh"
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
follow docs/runtime.md ""
for page in "$source"/README.md "$source"/docs/*; do
  installed=$HOME/sterna/share/doc/sterna/${page#"$source/"}
  cmp -s "$page" "$installed" || { echo "${page#"$source/"} is not installed"; exit 1; }
done
echo "every page is installed, with its pictures"

says "a mapper that is killed in the simulated world comes again" $'\nnode-localhost: started mapper1#2, '
says "the program counts" $'\n600 words\n'
says "sterna check asks it for its types" 'words.toml: good'
says "sterna run says what the board logs" ': 4000 words'
says "it ends when the board has" '1 of 3 actors have ended, as program.done_when asks, and the others were stopped; everything is in run'
