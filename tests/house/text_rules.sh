#!/usr/bin/env bash
# The house rules about text: one function each, named as the rule; it prints every offence.
# usage: text_rules.sh RULE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
one_screen=60 # lines

# Tracked files, or where this is no clone (a release's archive) all that is not built.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z
  else
    find . \( -path ./build -o -path ./runs -o -path ./.git \) -prune -o -type f -printf '%P\0'
  fi
}

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
