// The command line in this process, its streams in memory, its user's state in a folder of the
// test's.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "launcher/commands/cli.h"
#include "launcher/past/run_state.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {

class CommandTest : public testing::Test {
 protected:
  struct Said {
    int exit = -1;
    std::string out;
    std::string err;
  };

  CommandTest() { ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1); }

  static Said sterna(std::vector<const char*> words) {
    words.insert(words.begin(), "sterna");
    Stream out;
    Stream err;
    Said said;
    said.exit = command_line(static_cast<int>(words.size()), words.data(), Registry(),
                             {out.file, err.file});
    said.out = out.text();
    said.err = err.text();
    return said;
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  }
  /// A run that is remembered and over, its directory in the test's folder.
  RunState ended(const std::string& id, int exit) {
    RunState state;
    state.id = id;
    state.name = id.substr(0, id.find('-'));
    state.run_directory = folder.path() + "/" + id;
    state.placer = "ssh";
    state.began = id;
    state.detached = true;
    state.hosts = {{"a", "", ""}};
    state.ended = "it was " + id;
    state.exit = exit;
    EXPECT_TRUE(RunStates::of_user()->write(state).ok());
    return state;
  }

  TemporaryFolder folder;

 private:
  struct Stream {
    Stream() : file(::open_memstream(&bytes, &size)) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
      std::fclose(file);
      ::free(bytes);
    }
    std::string text() {
      std::fflush(file);
      return {bytes, size};
    }
    char* bytes = nullptr;
    std::size_t size = 0;
    std::FILE* file;
  };
};

}  // namespace sterna::launcher
