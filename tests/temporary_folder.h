// A folder for one test, gone with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace sterna {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = testing::TempDir() + "sterna-test-XXXXXX";
    if (!mkdtemp(path_.data())) ADD_FAILURE() << "no temporary folder";
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const {
    return std::filesystem::path(path_) / name;
  }

 private:
  std::string path_;
};

}  // namespace sterna
