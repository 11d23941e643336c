// A short $TMPDIR of one test's own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "tests/temporary_folder.h"

namespace sterna {

class TemporaryTmpdir : public testing::Test {
 protected:
  TemporaryTmpdir() { ::setenv("TMPDIR", folder.path().c_str(), 1); }
  ~TemporaryTmpdir() override {
    if (before.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before.c_str(), 1);
    }
  }

  const std::string before = ::getenv("TMPDIR") == nullptr ? "" : ::getenv("TMPDIR");
  TemporaryFolder folder;
};

}  // namespace sterna
