#!/usr/bin/env bash
# A made-up tree breaks the rules on rooms, on the names of tests and on its README: each offence is
# named with its line, and nothing else is.
set -euo pipefail
house=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
cd "$tree"
mkdir -p tests/house barn/ground barn/loft barn/shed mill/wheel
echo 'barn: ground loft' >tests/house/rooms.txt
printf '%s\n' '#pragma once' '#include "barn/loft/hay.h"' >barn/ground/floor.h # runs up
printf '%s\n' '#include "barn/roof.h"' >barn/loft/hay.cc                       # to the roof
printf '%s\n' '#include "barn/ground/floor.h"' '#include "barn/loft/hay.h"' '#include "mill/wheel/axle.h"' \
  '#include <vector>' '#include <barn/roof.h>' >barn/loft/hay.h # down, within, elsewhere, not ours, to the roof
printf '%s\n' 'using Roof = import "/barn/roof.capnp";' >barn/ground/floor.capnp # a schema's, too
printf '%s\n' '#include "barn/ground/floor.h"' '#include "barn/loft/hay.h"' >barn/roof.h
touch barn/shed/tool.h             # a room that nobody wrote down
echo '#include "mill/a.h"' >mill/wheel/axle.h # a folder without rooms

expected='barn/ground/floor.capnp:1: includes barn/roof.capnp, but no room includes its folder'"'"'s root
barn/ground/floor.h:2: includes barn/loft/hay.h, but loft stands above ground (tests/house/rooms.txt)
barn/loft/hay.cc:1: includes barn/roof.h, but no room includes its folder'"'"'s root
barn/loft/hay.h:5: includes barn/roof.h, but no room includes its folder'"'"'s root
barn/shed/tool.h: rooms.txt knows no room shed of barn'
said=$(bash "$house/text_rules.sh" no_room_includes_one_above_it "$tree") && status=0 || status=$?
diff <(echo "$expected") <(tail -n +2 <<<"$said")
((status != 0))

crowd() { for ((i = 0; i < $1; ++i)); do touch "mill/$i.cc"; done; }
crowd 30
bash "$house/text_rules.sh" no_room_is_crowded "$tree"
crowd 31
said=$(bash "$house/text_rules.sh" no_room_is_crowded "$tree") && exit 1
[[ ${said##*$'\n'} == 'mill: 31 files, at most 30' ]]
"$house/figures" "$tree" | grep -x 'edges between rooms: 6 (7 includes); that run back: 4' >/dev/null

printf '%s\n' 'TEST(Hay, is_dry)' 'TEST_F(Hay,' '       IsStored) {' 'TEST(Hay, Dry) {' >tests/hay_test.cc
said=$(bash "$house/text_rules.sh" every_test_is_named_as_a_sentence "$tree") && exit 1
diff <(tail -n +2 <<<"$said") - <<'END'
tests/hay_test.cc:1: is_dry is no SentenceInCamelCase
tests/hay_test.cc:4: Dry is no SentenceInCamelCase
END

mkdir -p runtime actors launcher tests/fuzz
echo 'barn.capnp:Hay 88 1f' >tests/fuzz/recorded_messages.txt
printf '%s\n' '  using Wire = schema::Hay;' '  STERNA_DECLARE_MESSAGE(Hay);' '  using Wire = schema::Straw;' \
  '  STERNA_DECLARE_MESSAGE(Straw);' >runtime/barn.h
said=$(bash "$house/text_rules.sh" every_message_is_recorded "$tree") && exit 1
[[ ${said##*$'\n'} == 'runtime/barn.h:4: Straw is not in tests/fuzz/recorded_messages.txt' ]]

echo 'const auto now = std::chrono::system_clock::now();' >actors/dated.cc
said=$(bash "$house/text_rules.sh" no_wall_clock_is_read_below_the_launcher "$tree" 2>/dev/null) && exit 1
[[ ${said##*$'\n'} == actors/dated.cc:1:* ]]

screens() { # lines before the cluster file
  printf 'a line\n%.0s' $(seq "$1") >README.md
  echo '## The cluster file' >>README.md
  bash "$house/text_rules.sh" the_readme_shows_a_cluster_file_within_two_screens "$tree"
}
screens 119
said=$(screens 120) && exit 1
[[ ${said##*$'\n'} == 'README.md: the cluster file comes at line 121, two screens are 120' ]]
