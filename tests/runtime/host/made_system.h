// Files of /proc and /sys as a test wants them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace sterna::test {

class MadeSystem : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace sterna::test
