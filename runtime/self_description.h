// What a program tells about itself when it is asked on the command line, before it is anything
// else:
//
//   PROGRAM --describe --json   its actor types and their arguments, one line:
//     {"format": 1, "program": its file name, "protocol": of its links,
//      "schema_hash": of its messages, "build_id": ..., "actors": [{"type": ..., "args":
//      [ARG...]}], "checks_args": true}
//     ARG: {"key": ..., "type": as in the schema, e.g. "Int64" or "List(Text)"}; and where that is
//     an enum, a struct or a list of one: "values": its names, "fields": [ARG...] (but a struct
//     within itself is not told again)
//   PROGRAM --check-args        whether it could start actors with these arguments: of each line of
//     standard input, {"type": ..., "args": {KEY: VALUE...}}, one line that says what is wrong, or
//     an empty one (only where the description has "checks_args": others may run their body)
//   PROGRAM __bundle-hash       the hash of the bundle that it lies in (bundle.h)
#pragma once

#include <istream>
#include <optional>
#include <string>

#include "runtime/actor/registry.h"

namespace sterna {

/// The exit code, or null if the program was not asked.
std::optional<int> answer_about_itself(int argc, char** argv, const Registry& registry);

/// What --check-args prints.
std::string check_args(const Registry& registry, std::istream& lines);

}  // namespace sterna
