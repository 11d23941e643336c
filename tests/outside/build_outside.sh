#!/usr/bin/env bash
# Installs Sterna under INTO/prefix and builds the outside project `greeters` against that in
# INTO/build, its bundle in INTO/build/bundle, while neither Sterna's source nor its build tree can
# be seen. Without INTO: in a temporary folder, and what was built is tried there.
# usage: build_outside.sh SOURCE BUILD [INTO]   exits 77 (skipped) without the right to make namespaces
set -euo pipefail
source=$1 build=$2 into=${3-}

as_root=()
((EUID == 0)) || as_root=(--map-root-user)
apart=(unshare "${as_root[@]}" -m)
"${apart[@]}" true 2>/dev/null || { echo "SKIPPED: this user may not make namespaces"; exit 77; }

if [[ -z $into ]]; then
  into=$(mktemp -d)
  trap 'rm -rf "$into"' EXIT
fi
quietly() { # a command; what it says only if it fails
  "$@" >"$into/log" 2>&1 || { local status=$?; cat "$into/log"; exit $status; }
}
rm -rf "$into"/{prefix,project,build}
quietly cmake --install "$build" --prefix "$into/prefix"
cp -r "$source/tests/outside/greeters" "$into/project"

# Within its own mounts. Caching compilers is the caller's choice (CMAKE_CXX_COMPILER_LAUNCHER).
quietly "${apart[@]}" bash -euc '
  source=$1 build=$2 into=$3
  mount -t tmpfs none "$source"
  [[ ! -e $build ]] || mount -t tmpfs none "$build"
  cd "$into"
  cmake -S project -B build -DCMAKE_PREFIX_PATH="$into/prefix"
  cmake --build build --target greeters greeters_bundle
' bash "$source" "$build" "$into"
[[ -z ${3-} ]] || exit 0

cd "$into"
holds() { # what, text that its output holds (with * and ?), command
  local out
  out=$("${@:3}" 2>&1) || { echo "$1: exit code $?"; echo "$out"; exit 1; }
  [[ $out == $2 ]] || { printf '%s: expected %s, not\n%s\n' "$1" "$2" "$out"; exit 1; }
  echo "$1: ${out##*$'\n'}"
}
greeters=build/bundle/bin/greeters
hash=$(printf '?%.0s' {1..32})
holds "the program describes itself" \
  '*"program":"greeters",*{"type":"greeter","args":\[{"key":"greeting","type":"Text"},{"key":"count","type":"UInt32"}]}*' \
  $greeters --describe --json
holds "its bundle has a hash" "$hash" $greeters __bundle-hash
holds "its actors greet each other" '*3 greeters greeted each other' $greeters
holds "the installed program is the one that was built" 'sterna *' prefix/bin/sterna --version
holds "it lies in a bundle" "$hash" prefix/bin/sterna __bundle-hash
