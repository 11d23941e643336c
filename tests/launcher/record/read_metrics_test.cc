#include "launcher/record/read_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

TEST(ReadMetrics, EveryErrorNamesTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  std::ofstream(path) << R"({"kind":"loss","step":1})"
                      << "\n";
  const Result<void> stopped = for_each_metric(folder.path(), [](const Json&) -> Result<void> {
    return Error{Errc::io, "no more"};
  });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, path + ": no more");
}

TEST(ReadMetrics, ThatAPipeStandsInTheirPlaceIsSaid) {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Result<void> read =
      for_each_metric(folder.path(), [](const Json&) { return Result<void>(); });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::malformed);
  EXPECT_EQ(read.error().message, path + ": is no regular file");
}

TEST(ReadMetrics, OnlyTheLastLineMayBeAPartOfOne) {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  std::vector<double> steps;
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    steps.clear();
    return for_each_metric(folder.path(), [&](const Json& line) -> Result<void> {
      steps.push_back(line["step"]);
      return {};
    });
  };
  EXPECT_TRUE(read("{\"step\":1}\n{\"step\":2}").ok());
  EXPECT_THAT(steps, testing::ElementsAre(1, 2));
  EXPECT_TRUE(read("{\"step\":1}\n{\"st").ok());
  EXPECT_THAT(steps, testing::ElementsAre(1));
  EXPECT_TRUE(read("{\"step\":1}\n{\"st\n").ok());
  const Result<void> damaged = read("{\"st\n{\"step\":1}\n");
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().message,
            path + ":1: is no line of metrics; take it out, the others can be read");
}

TEST(ReadMetrics, ALineOfThousandsOfReadersIsRead) {
  const TemporaryFolder folder;
  std::ofstream(folder / "metrics.jsonl")
      << "{\"kind\":\"step\",\"readers\":\"" << std::string(500'000, 'x') << "\"}\n{}\n";
  int lines = 0;
  const Result<void> read = for_each_metric(folder.path(), [&](const Json&) -> Result<void> {
    ++lines;
    return {};
  });
  EXPECT_TRUE(read.ok());
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace sterna::launcher
