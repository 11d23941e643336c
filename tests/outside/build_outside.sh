#!/usr/bin/env bash
# Installs Sterna under INTO/prefix and builds the outside project `greeters` against that in
# INTO/build, its bundle in INTO/build/bundle, while neither Sterna's source nor its build tree can
# be seen. Without INTO: in a temporary folder, and what was built is tried there.
# usage: build_outside.sh SOURCE BUILD [INTO]   exits 77 (skipped) without the right to make namespaces
set -euo pipefail
source=$1 build=$2 into=${3-}
. "$source/tests/outside/outside.sh"

if [[ -z $into ]]; then
  into=$(mktemp -d)
  trap 'rm -rf "$into"' EXIT
fi
rm -rf "$into"/{prefix,project,build}
quietly cmake --install "$build" --prefix "$into/prefix"
cp -r "$source/tests/outside/greeters" "$into/project"

# Caching compilers is the caller's choice (CMAKE_CXX_COMPILER_LAUNCHER).
quietly unseen '
  cmake -S project -B build -DCMAKE_PREFIX_PATH="$PWD/prefix"
  cmake --build build --target greeters greeters_bundle
'
[[ -z ${3-} ]] || exit 0

cd "$into"
greeters=build/bundle/bin/greeters
hash=$(printf '?%.0s' {1..32})
holds "the program describes itself" \
  '*"program":"greeters",*{"type":"greeter","args":\[{"key":"greeting","type":"Text"},{"key":"count","type":"UInt32"}]}*' \
  $greeters --describe --json
holds "its bundle has a hash" "$hash" $greeters __bundle-hash
holds "its actors greet each other" '*3 greeters greeted each other' $greeters
holds "the installed program is the one that was built" 'sterna *' prefix/bin/sterna --version
holds "it lies in a bundle" "$hash" prefix/bin/sterna __bundle-hash
holds "configured once more, nothing of it is compiled anew" 'compiled: 0' sh -c '
  cmake -S project -B build >/dev/null && cmake --build build --target greeters >again.log &&
    echo "compiled: $(grep -c "Building CXX" again.log)"'
