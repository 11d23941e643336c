// The cluster file that a command is given, with the keys that its command line changes.
#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/commands/command.h"

namespace sterna::launcher {

struct GivenFile {
  std::string file;
  std::vector<std::string> overrides;  ///< "key=value", in order
};

/// FILE, --set and then `more`.
inline std::vector<Argument> with_file(GivenFile& given, std::vector<Argument> more,
                                       std::string help = "The cluster file") {
  std::vector<Argument> all = {
      {.name = "FILE", .into = &given.file, .help = std::move(help), .required = true},
      {"--set", &given.overrides, "Change a key of the file, e.g. gradient.codec=none",
       "KEY=VALUE"}};
  std::move(more.begin(), more.end(), std::back_inserter(all));
  return all;
}

}  // namespace sterna::launcher
