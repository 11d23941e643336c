# Needs `house`, this folder; the functions work on the tree that they are called in.
most_files=30 # that a room may hold

# The tree's own files, one NUL-ended path each: the tracked ones, or where this is no clone (a
# release's archive) all that is not built.
files() {
  if [[ -e .git ]]; then
    git ls-files -z -- "$@"
  else
    find "${@:-.}" \( -path ./build -o -path ./runs -o -path ./.git \) -prune -o -type f -print0 |
      sed -z 's#^\./##'
  fi
}

# What rooms.awk says of the tree; of one that has no rooms.txt, only how many files a folder holds.
survey() {
  local rooms=tests/house/rooms.txt
  [[ -e $rooms ]] || rooms=/dev/null
  files | tr '\0' '\n' | awk -f "$house/rooms.awk" $rooms - | sort
}
