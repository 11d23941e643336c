#!/usr/bin/env bash
# The house rules about text: one function each, named as the rule; it prints every offence.
# usage: text_rules.sh RULE [TREE]
set -euo pipefail
house=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$house/files.sh"
cd "${2-$house/../..}"
one_screen=60 # lines

no_include_climbs_out_of_its_folder() {
  files | xargs -0 grep -InHE '^[[:space:]]*#[[:space:]]*include[[:space:]]+[<"]\.\.?/' || true
}

every_folder_has_a_readme_of_one_screen() {
  local folder lines
  for folder in runtime kernels nets input actors launcher; do
    [[ -e $folder/README.md ]] || { echo "$folder: no README.md" && continue; }
    lines=$(wc -l <"$folder/README.md")
    ((lines <= one_screen)) || echo "$folder/README.md: $lines lines, one screen is $one_screen"
  done
}

# Whoever wants to train something reads no further than that before he sees how.
the_readme_shows_a_cluster_file_within_two_screens() {
  local line
  line=$(grep -nm 1 -x '## The cluster file' README.md | cut -d : -f 1) || true
  ((${line:-0} > 0 && line <= 2 * one_screen)) ||
    echo "README.md: the cluster file comes at line ${line:-none}, two screens are $((2 * one_screen))"
}

no_room_includes_one_above_it() { survey | sed -nE 's/^(back|nowhere) //p'; }

no_room_is_crowded() {
  survey | awk -v most="$most_files" '$1 == "files" && $3 > most { print $2 ": " $3 " files, at most " most }'
}

# As far as a machine can tell a sentence: words in CamelCase, two at the least.
every_test_is_named_as_a_sentence() {
  files tests | { grep -zE '\.(cc|h)$' || true; } | xargs -0 -r awk '
    !/^(TYPED_)?TEST(_F|_P)?\(/ { next }
    {
      file = FILENAME ":" FNR
      declared = $0
      while (declared !~ /\)/ && (getline line) > 0) declared = declared line
      name = declared
      sub(/^[^,]*,[ \t]*/, "", name)
      sub(/\).*/, "", name)
      words = name
      if (name !~ /^[A-Z][A-Za-z0-9]*$/ || gsub(/[A-Z]/, "", words) < 2)
        print file ": " name " is no SentenceInCamelCase"
    }'
}

# Who is recorded is in all that every_message() is for: fuzzed, broken field by field, sent on.
every_message_is_recorded() {
  local recorded=tests/fuzz/recorded_messages.txt
  files runtime actors launcher | { grep -zE '\.(cc|h)$' || true; } | xargs -0 -r awk -v recorded=$recorded '
    BEGIN { while ((getline line < recorded) > 0) { sub(/ .*/, "", line); sub(/.*:/, "", line); known[line] } }
    /using Wire = / { wire = $NF; sub(/.*::/, "", wire); sub(/;.*/, "", wire) }
    /^ *STERNA_(DECLARE|INLINE)_MESSAGE\(/ && !(wire in known) {
      print FILENAME ":" FNR ": " wire " is not in " recorded
    }'
}

each_mutant_still_applies() {
  local patch
  for patch in tests/mutants/*.patch; do
    patch --dry-run --quiet --force --strip 1 --reject-file - --input "$patch" >/dev/null 2>&1 ||
      echo "$patch: the code has changed"
  done
}

# A clock that jumps changes nothing then but the dates of log lines, and simulated ones need none.
no_wall_clock_is_read_below_the_launcher() {
  files runtime kernels nets input actors | { grep -zE '\.(cc|h|cu)$' || true; } |
    { grep -zvx runtime/host/real_machine.cc || true; } |
    xargs -0 -r grep -nE 'system_clock|CLOCK_REALTIME|gettimeofday|\btime\((0|NULL|nullptr)\)' || true
}

# Home and working folders of some machine, and the place of this very checkout.
no_text_names_a_path_of_one_machine() {
  files | xargs -0 grep -InHE '(^|[^[:alnum:]_.$})-])/(home|root|Users|work|mnt|media)/[[:alnum:]]' || true
  files | xargs -0 grep -InHF "$PWD/" || true
}

offences=$("$1")
if [[ -n $offences ]]; then
  printf 'against the rule "%s":\n%s\n' "${1//_/ }" "$offences"
  exit 1
fi
