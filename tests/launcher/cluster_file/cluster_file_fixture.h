// What the tests of cluster files share: a folder to write one in, and its mistakes without that
// folder's name.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "tests/launcher/one_of_each.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {

inline const std::string smallest = kOneOfEach + R"([job]
net = "lenet"
steps = 200
)";

class ClusterFileTest : public testing::Test {
 protected:
  Result<ClusterFile> read(const std::string& text, std::vector<std::string> overrides = {}) {
    std::ofstream(path()) << text;
    return read_cluster_file(path(), overrides);
  }
  std::string path() const { return folder_ + "/x.toml"; }

  /// The error's message without the folder: "x.toml:12: …".
  std::string error(const std::string& text, std::vector<std::string> overrides = {}) {
    const Result<ClusterFile> result = read(text, std::move(overrides));
    if (result.ok()) return "no error";
    std::string message = result.error().message;
    for (auto at = message.find(folder_ + "/"); at != std::string::npos;
         at = message.find(folder_ + "/")) {
      message.erase(at, folder_.size() + 1);
    }
    return message;
  }
  std::string error_of_more(const std::string& more) { return error(smallest + more); }
  std::string error_of_set(const std::string& override) { return error(smallest, {override}); }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

}  // namespace sterna::launcher
