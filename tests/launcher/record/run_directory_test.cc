// What a run leaves behind: the folder, the metrics, the result.
#include "launcher/record/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/as_nobody.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectoryOptions options() const {
    RunDirectoryOptions options;
    options.config = "lenet";
    options.parent = folder_.path() + "/runs";
    options.now = std::chrono::system_clock::time_point(std::chrono::seconds(1767323045));
    options.minimum_free = 0;
    return options;
  }
  TemporaryFolder folder_;
};

TEST_F(RunDirectoryTest, IsNamedAfterTheConfigAndTheUtcTime) {
  const auto directory = RunDirectory::create(options());
  ASSERT_TRUE(directory.ok()) << directory.error().message;
  EXPECT_EQ(directory->path(), folder_.path() + "/runs/lenet-20260102T030405Z");
  EXPECT_TRUE(std::filesystem::is_directory(directory->logs_path()));
}

TEST_F(RunDirectoryTest, OneWithAPipeInAFilesPlaceIsNotGoneOnIn) {
  RunDirectoryOptions there = options();
  there.explicit_path = folder_.path() + "/there";
  there.goes_on = true;
  std::filesystem::create_directories(there.explicit_path);
  const std::string pipe = there.explicit_path + "/metrics.jsonl";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(run_identity(there.explicit_path), std::nullopt);
  const auto directory = RunDirectory::create(there);
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().message, pipe + ": is no regular file");
}

TEST_F(RunDirectoryTest, ASecondRunInTheSameSecondGetsAFolderOfItsOwn) {
  const auto first = RunDirectory::create(options());
  const auto second = RunDirectory::create(options());
  const auto third = RunDirectory::create(options());
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_EQ(second->path(), first->path() + "-2");
  EXPECT_EQ(third->path(), first->path() + "-3");
}

TEST_F(RunDirectoryTest, AnExplicitOneThatExistsIsAnError) {
  RunDirectoryOptions mine = options();
  mine.explicit_path = folder_.path() + "/a/b/";
  ASSERT_TRUE(RunDirectory::create(mine).ok());
  const auto again = RunDirectory::create(mine);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Errc::already_exists);
  EXPECT_EQ(again.error().message,
            folder_.path() + "/a/b has a run already; give another --run-dir, or remove it");
  mine.explicit_path = folder_.path() + "/c";
  const auto goes_on = RunDirectory::create(mine);
  ASSERT_TRUE(goes_on.ok());
  const auto beside = RunDirectory::create(mine);
  ASSERT_FALSE(beside.ok());
  EXPECT_THAT(beside.error().message, HasSubstr("/c is another run's that goes on; end that first"))
      << "its directory is not to be removed";
}

TEST_F(RunDirectoryTest, OneThatCannotBeMadeIsAnError) {
  RunDirectoryOptions mine = options();
  std::ofstream(folder_.path() + "/file") << "x";
  mine.explicit_path = folder_.path() + "/file/run";
  const auto directory = RunDirectory::create(mine);
  ASSERT_FALSE(directory.ok());
  EXPECT_THAT(directory.error().message, HasSubstr("cannot create the run directory "));
}

TEST_F(RunDirectoryTest, TooLittleFreeSpaceIsAnErrorThatLeavesNothingBehind) {
  RunDirectoryOptions mine = options();
  mine.minimum_free = std::numeric_limits<std::uint64_t>::max() / 2;
  mine.explicit_path = folder_.path() + "/full";
  const auto directory = RunDirectory::create(mine);
  ASSERT_FALSE(directory.ok());
  EXPECT_THAT(directory.error().message, HasSubstr("MB free and a run wants "));
  EXPECT_FALSE(std::filesystem::exists(mine.explicit_path));
}

TEST_F(RunDirectoryTest, WhatCannotBeMadeIsSeenWithoutMakingAnything) {
  std::ofstream(folder_.path() + "/file") << "x";
  std::filesystem::create_directory(folder_.path() + "/closed");
  std::filesystem::permissions(folder_.path() + "/closed", std::filesystem::perms::none);
  const auto why_not = [&](const std::string& path) {
    RunDirectoryOptions mine = options();
    mine.explicit_path = path.empty() ? "" : folder_.path() + path;
    const Result<void> can = RunDirectory::check(mine);
    return can ? "" : can.error().message;
  };
  EXPECT_EQ(why_not(""), "");
  EXPECT_EQ(why_not("/a/b/"), "");
  EXPECT_THAT(why_not("/file/run"), EndsWith("/file/run: Not a directory"));
  EXPECT_THAT(why_not("/file"),
              EndsWith("/file is there already, and no run's directory; give another --run-dir"));
  {
    const AsNobody user;
    EXPECT_THAT(why_not("/closed/run"), EndsWith("/closed/run: Permission denied"));
  }
  RunDirectoryOptions full = options();
  full.minimum_free = std::numeric_limits<std::uint64_t>::max() / 2;
  EXPECT_FALSE(RunDirectory::check(full).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/runs"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/a"));
}

TEST_F(RunDirectoryTest, WhereThereIsNoCurrentFolderItSaysSo) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(folder_.path() + "/gone");
  std::filesystem::current_path(folder_.path() + "/gone");
  std::filesystem::remove(folder_.path() + "/gone");
  RunDirectoryOptions mine = options();
  mine.parent = "runs";
  const Result<void> can = RunDirectory::check(mine);
  std::filesystem::current_path(before);
  ASSERT_FALSE(can.ok());
  EXPECT_THAT(can.error().message, EndsWith("runs: No such file or directory"));
}

TEST_F(RunDirectoryTest, OneThatIsThereWillDoForARunThatGoesOnInIt) {
  RunDirectoryOptions mine = options();
  mine.explicit_path = folder_.path() + "/run";
  std::filesystem::create_directory(mine.explicit_path);
  EXPECT_FALSE(RunDirectory::check(mine).ok());
  mine.goes_on = true;
  EXPECT_TRUE(RunDirectory::check(mine).ok());
}

TEST_F(RunDirectoryTest, OneThatIsGoneOnInIsCalledAsANewOneIs) {
  RunDirectoryOptions mine = options();
  mine.explicit_path = folder_.path() + "/run/";
  ASSERT_TRUE(RunDirectory::create(mine).ok());
  mine.goes_on = true;
  const auto again = RunDirectory::create(mine);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->path(), folder_.path() + "/run");
  EXPECT_FALSE(again->made());
  EXPECT_EQ(again->identity().substr(0, 4), "run@");
}

TEST_F(RunDirectoryTest, OneThatNoRunCanBeRememberedByIsAnError) {
  for (const char* name : {"/run.lock", "/run.lock/", "/a/../run.lock"}) {
    RunDirectoryOptions mine = options();
    mine.explicit_path = folder_.path() + name;
    for (const bool goes_on : {false, true}) {
      mine.goes_on = goes_on;
      EXPECT_EQ(RunDirectory::check(mine).error().code, Errc::invalid_argument);
      const auto directory = RunDirectory::create(mine);
      ASSERT_FALSE(directory.ok()) << name;
      EXPECT_THAT(directory.error().message, HasSubstr("no run can be called \"run.lock\""));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/run.lock"));
}

TEST_F(RunDirectoryTest, MetricsAreJsonLinesWhoseFirstNamesTheFormat) {
  auto directory = RunDirectory::create(options());
  ASSERT_TRUE(directory.ok());
  StepMetrics step;
  step.step = 7;
  step.loss = std::nan("");
  LineFile metrics = directory->take_metrics();
  ASSERT_TRUE(metrics.append(to_json(step)).ok());
  ASSERT_TRUE(metrics.append(to_json(EvaluationResult{250, 1.5, 0.97, 2000})).ok());
  ASSERT_TRUE(metrics.close().ok());
  std::istringstream lines(content(directory->metrics_path()));
  std::vector<Json> parsed;
  for (std::string line; std::getline(lines, line);) parsed.push_back(Json::parse(line));
  ASSERT_EQ(parsed.size(), 3U);
  EXPECT_EQ(parsed[0]["format"], 1);
  EXPECT_EQ(parsed[1]["kind"], "step");
  EXPECT_EQ(parsed[1]["step"], 7);
  EXPECT_TRUE(parsed[1]["loss"].is_null());
  EXPECT_EQ(parsed[2]["kind"], "evaluation");
  EXPECT_EQ(parsed[2]["precision_at_1"], 0.97);
}

TEST_F(RunDirectoryTest, BegunAgainItsMetricsGoOnBehindTheirLastWholeLine) {
  RunDirectoryOptions mine = options();
  mine.explicit_path = folder_.path() + "/again";
  mine.goes_on = true;
  ASSERT_TRUE(RunDirectory::create(mine).ok());
  const std::string path = mine.explicit_path + "/metrics.jsonl";
  const std::string head = content(path);
  std::ofstream(path, std::ios::app) << "{\"kind\":\"lo";
  {
    auto again = RunDirectory::create(mine);
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(again->made());
    ASSERT_TRUE(again->take_metrics().append("{}").ok());
    EXPECT_EQ(content(path), head + "{}\n");
    const auto beside = RunDirectory::create(mine);
    ASSERT_FALSE(beside.ok()) << "one at a time";
    EXPECT_EQ(beside.error().code, Errc::already_exists);
    EXPECT_THAT(beside.error().message, testing::HasSubstr("another run's that goes on"));
  }

  std::ofstream(path, std::ios::trunc) << "{\"for";
  ASSERT_TRUE(RunDirectory::create(mine).ok());
  EXPECT_EQ(content(path), head);
}

TEST_F(RunDirectoryTest, TheResolvedFileAndTheResultAreWrittenWhole) {
  auto directory = RunDirectory::create(options());
  ASSERT_TRUE(directory.ok());
  ASSERT_TRUE(directory->write_resolved(ClusterFile{}).ok());
  EXPECT_THAT(content(directory->resolved_path()), HasSubstr("[job]\n"));
  RunResult result;
  result.run = directory->path();
  ASSERT_TRUE(directory->write_result(result).ok());
  ASSERT_TRUE(directory->write_result(result).ok());
  EXPECT_EQ(content(directory->result_path()), to_json(result) + "\n");
  ASSERT_TRUE(directory->write_status(RunStatus{}).ok());
  directory->forget_result();
  EXPECT_FALSE(std::filesystem::exists(directory->result_path())) << "it goes on";
  EXPECT_FALSE(std::filesystem::exists(directory->status_path())) << "and is not interrupted";
  directory->forget_result();
}

}  // namespace
}  // namespace sterna::launcher
