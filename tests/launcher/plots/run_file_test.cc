#include "launcher/plots/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/plots/run_folders.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using RunFileTest = test::RunFolders;

TEST_F(RunFileTest, ActorsAreCountedByTheirRole) {
  const auto workers = [](const std::string& counts) {
    std::string file = "[[actor]]\nrole = \"parameter_server\"\ncount = 1\nrestart = 2\n";
    for (const char count : counts) {
      file += std::string("[[actor]]\nrole = \"worker\"\ncount = ") + count + "\nranks = 1\n";
    }
    return file;
  };
  const auto keys = [&](const std::string& name, const std::string& file) {
    return read_run_file(run(name, "", file)).keys;
  };
  EXPECT_THAT(differences({keys("a", workers("1")), keys("b", workers("4"))}),
              ElementsAre("1 worker", "4 workers"));
  EXPECT_EQ(keys("c", workers("22"))["workers"], "4") << "of two tables";
  EXPECT_THAT(differences({{{"parameter_servers", "2"}}, {{"parameter_servers", "1"}}}),
              ElementsAre("2 parameter servers", "1 parameter server"));
}

TEST_F(RunFileTest, WhatIsEmptyIsCalledNone) {
  EXPECT_THAT(differences({{{"init.from", "\"\""}}, {{"init.from", "\"a\""}}, {}}),
              ElementsAre("from none", "from a", "from none"));
  EXPECT_THAT(differences({{{"init.skip", "[]"}}, {{"init.skip", "[\"b\"]"}}}),
              ElementsAre("skip none", "skip [b]"));
}

TEST_F(RunFileTest, KnowsItsSeedAndWhetherItGoesOn) {
  const RunFile file = read_run_file(
      run("a", "", "[job]\nseed = 7\nbatch = 8\n[checkpoint]\nresume = true\nkeep = 2\n"));
  EXPECT_EQ(file.seed, "7");
  EXPECT_TRUE(file.resumes);
  EXPECT_EQ(file.keys, (std::map<std::string, std::string>{{"job.batch", "8"}}));
  EXPECT_FALSE(read_run_file(run("b", "", "[checkpoint]\nresume = false\n")).resumes);
  EXPECT_FALSE(read_run_file("nowhere").resumes);
}

}  // namespace
}  // namespace sterna::launcher
