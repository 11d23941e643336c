# Reads rooms.txt, then the tree's paths from standard input, in the tree's root. Prints a line a
# directory, `files DIRECTORY N`; a line a pair of rooms, `edge FROM TO INCLUDES`; and a line an
# offence, `back FILE:LINE: includes HEADER, but ...` or `nowhere FILE: ...`.

function room_of(path, parts, n) {
  n = split(path, parts, "/")
  folder = parts[1]
  return n > 2 ? parts[2] : ""
}

function names(from_folder, room) { return from_folder "/" (room == "" ? "(roof)" : room) }

function read_includes(file, folder_of_file, room, line, at, header, target) {
  while ((getline line < file) > 0) {
    ++at
    if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/ && line !~ /import "\//) continue
    match(line, /["<][^">]*[">]/)
    header = substr(line, RSTART + 1, RLENGTH - 2)
    sub(/^\//, "", header)
    target = room_of(header)
    if (folder != folder_of_file) continue
    if (target != room) ++edges[names(folder, room) " " names(folder, target)]
    if (target == room || room == "") continue
    if (target == "") {
      print "back " file ":" at ": includes " header ", but no room includes its folder's root"
    } else if (height[folder, target] > height[folder, room] || !((folder, target) in height)) {
      print "back " file ":" at ": includes " header ", but " target " stands above " room \
            " (tests/house/rooms.txt)"
    }
  }
  close(file)
}

FILENAME == ARGV[1] {
  if (/^[a-z]+:/) {
    sub(/:/, "", $1)
    divided[$1] = 1
    for (i = 2; i <= NF; ++i) height[$1, $i] = i
  }
  next
}

/^tests\// || !/\.(h|cc|cu|capnp)$/ { next }

{
  directory = $0
  sub(/\/[^\/]*$/, "", directory)
  ++files[directory]
  room = room_of($0)
  if (!(folder in divided)) next
  if (room != "" && !((folder, room) in height)) {
    print "nowhere " $0 ": rooms.txt knows no room " room " of " folder
    next
  }
  read_includes($0, folder, room)
}

END {
  for (directory in files) print "files", directory, files[directory]
  for (edge in edges) print "edge", edge, edges[edge]
}
