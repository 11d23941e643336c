// What a run's resolved file says of how it trained: by that runs are told apart, and called.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sterna::launcher {

struct RunFile {
  /// "gradient.codec" and its value as it stands there, "workers" and how many; without what says
  /// nothing of how the run trained.
  std::map<std::string, std::string> keys;
  std::string seed;
  bool resumes = false;  ///< it goes on from a checkpoint, if there is one
};

/// Of the run's directory; nothing where it has no such file.
RunFile read_run_file(const std::string& run);

/// By what each of these differs from the others, "codec none, 4 workers"; empty where that is
/// nothing, or too much to say.
std::vector<std::string> differences(const std::vector<std::map<std::string, std::string>>& files);

}  // namespace sterna::launcher
