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
