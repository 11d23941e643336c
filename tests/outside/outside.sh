# What the tests of outside projects share; to be sourced with `source` and `build`, the folders of
# Sterna's own trees, set. Sets `apart`, the command that runs another in mounts of its own, and ends
# the script with 77 (skipped) without the right to that.
as_root=()
((EUID == 0)) || as_root=(--map-root-user)
apart=(unshare "${as_root[@]}" -m)
"${apart[@]}" true 2>/dev/null || { echo "SKIPPED: this user may not make namespaces"; exit 77; }

quietly() { # a command; what it says, kept in $into/log, only if it fails
  "$@" >"$into/log" 2>&1 || { local status=$?; cat "$into/log"; exit $status; }
}
unseen() { # a script, arguments: runs it in $into while neither Sterna's source nor its build tree can be seen
  "${apart[@]}" bash -euc '
    mount -t tmpfs none "$1"
    [[ ! -e $2 ]] || mount -t tmpfs none "$2"
    cd "$3"
    exec bash -euc "$4" bash "${@:5}"
  ' bash "$source" "$build" "$into" "$@"
}
holds() { # what, text that its output holds (with * and ?), command
  local out
  out=$("${@:3}" 2>&1) || { echo "$1: exit code $?"; echo "$out"; exit 1; }
  [[ $out == $2 ]] || { printf '%s: expected %s, not\n%s\n' "$1" "$2" "$out"; exit 1; }
  echo "$1: ${out##*$'\n'}"
}
# Does what a page says, from its text alone: every block whose first line is a comment with a file's
# name becomes that file, and its two blocks of commands are run as they are, with a home of their
# own; the second while neither Sterna's source nor its build tree can be seen. What that says is in
# $said, and what is made in $into/project.
follow() { # page, chapter ("": all of it), files that it must have
  mkdir "$into/project" "$into/home"
  awk -v into="$into" -v chapter="$2" '
    BEGIN { here = chapter == "" }
    /^## / && chapter != "" { here = $0 == "## " chapter }
    !here { next }
    /^```/ {
      if (inside) { inside = 0; file = "" } else { inside = 1; first = 1; language = substr($0, 4) }
      next
    }
    inside && first {
      first = 0
      if (language == "sh") file = into "/commands" ++blocks
      else if (language != "" && $0 ~ /^(#|\/\/) [A-Za-z_.]+$/) file = into "/project/" $2
    }
    inside && file != "" { print > file }
  ' "$source/$1"
  if ! (cd "$into/project" && cat ../commands1 ../commands2 "${@:3}") >/dev/null; then
    echo "$1 lacks a file or the commands"
    exit 1
  fi
  # What compilers cache is not in the stranger's home.
  export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache} HOME=$into/home
  grep -q 'build/release' "$into/commands1" || { echo "$1 does not install build/release"; exit 1; }
  sed -i "s|build/release|$build|" "$into/commands1"
  quietly bash -euc 'cd "$1"; . "$2"' bash "$source" "$into/commands1"
  quietly unseen 'cd project; set -x; . ../commands2'
  said=$(cat "$into/log")
}
says() { # what, text that $said has (with * and ?)
  [[ $said == *$2* ]] || { printf '%s: expected %s in\n%s\n' "$1" "$2" "$said"; exit 1; }
  echo "$1"
}
