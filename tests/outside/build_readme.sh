#!/usr/bin/env bash
# Does what the README's chapter "The runtime by itself" says, from its text alone: every block whose
# first line is a comment with a file's name becomes that file, and the two blocks of commands are
# run as they are, with a home of their own; the second while neither Sterna's source nor its build
# tree can be seen.
# usage: build_readme.sh SOURCE BUILD   exits 77 (skipped) without the right to make namespaces
set -euo pipefail
source=$1 build=$2
. "$source/tests/outside/outside.sh"
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
mkdir "$into/project" "$into/home"

awk -v into="$into" '
  /^## / { chapter = $0 == "## The runtime by itself" }
  !chapter { next }
  /^```/ {
    if (inside) { inside = 0; file = "" } else { inside = 1; first = 1; language = substr($0, 4) }
    next
  }
  inside && first {
    first = 0
    if (language == "sh") file = into "/commands" ++blocks
    else if (language != "" && $0 ~ /^(#|\/\/) [A-Za-z.]+$/) file = into "/project/" $2
  }
  inside && file != "" { print > file }
' "$source/README.md"
if ! (cd "$into" && cat commands1 commands2 project/{CMakeLists.txt,counter.capnp,counter.toml,main.cc}) >/dev/null; then
  echo "README.md lacks a file or the commands"
  exit 1
fi

# What compilers cache is not in the stranger's home.
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache} HOME=$into/home
grep -q 'build/release' "$into/commands1" || { echo "the README does not install build/release"; exit 1; }
sed -i "s|build/release|$build|" "$into/commands1"
quietly bash -euc 'cd "$1"; . "$2"' bash "$source" "$into/commands1"
quietly unseen 'cd project; set -x; . ../commands2'

said=$(cat "$into/log")
says() { # what, text that was said (with * and ?)
  [[ $said == *$2* ]] || { printf '%s: expected %s in\n%s\n' "$1" "$2" "$said"; exit 1; }
  echo "$1"
}
says "the program counts" $'\n42\n'
says "sterna run says what the actors are doing" $'\nrunning, 3 actors: '
says "it says what one logs" ': the counter is at 41'
says "it says what the other one logs" ': the counter is at 42'
says "it says that they have ended" $'\nadder1 has ended\n'
says "it ends when they have" '2 of 3 actors have ended, as program.done_when asks, and the others were stopped; everything is in run'
said=$(cat "$into/project/run/result.json")
says "its result is a success" '"exit":0,'
says "the result says who was waited for" '"awaited":\["adder0","adder1"\]'
says "the result says how the counter ended" \
  '{"name":"counter0","type":"counter","host":"localhost","end":"stopped"}'
says "the result says how the adders ended" \
  '{"name":"adder1","type":"adder","host":"localhost","end":"done"}'
