// Which checkpoints of a folder stay when another is there.
#include "actors/checkpoint/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/saved.h"
#include "actors/checkpoint/state_part.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;

class CheckpointFolder : public testing::Test {
 protected:
  /// A whole one, but for its bytes.
  void keep(std::uint64_t step, const std::optional<MeasuredPrecision>& precision,
            const std::string& run = "") const {
    const std::string path = folder.path() + "/" + checkpoint_name(step);
    std::filesystem::create_directories(path);
    Manifest manifest;
    manifest.run = run;
    manifest.net = "mlp";
    manifest.step = step;
    manifest.parts.push_back({"server0", "server0.safetensors", 8, {}});
    manifest.precision = precision;
    const Result<void> written = write_manifest(path, manifest);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  std::vector<std::uint64_t> stay(const KeptCheckpoints& kept) const {
    remove_old_checkpoints(folder.path(), kept);
    std::vector<std::uint64_t> steps;
    for (const FoundCheckpoint& one : find_checkpoints(folder.path())) steps.push_back(one.step);
    return steps;
  }
  TemporaryFolder folder;
};

TEST_F(CheckpointFolder, TheBestStaysOfThoseThatCompare) {
  keep(10, MeasuredPrecision{0.80, 2000});
  keep(20, MeasuredPrecision{0.95, 2000});
  keep(30, MeasuredPrecision{0.94, 10000});  // of all examples: it may be the better one
  keep(40, MeasuredPrecision{0.93, 10000});
  keep(50, MeasuredPrecision{0.90, 2000});
  EXPECT_THAT(stay({.made = 50, .keep = 1, .best = true}), ElementsAre(20, 30, 50));
  EXPECT_THAT(stay({.made = 50, .keep = 1}), ElementsAre(50));
}

TEST_F(CheckpointFolder, OthersStayAndCountForNothing) {
  keep(10, MeasuredPrecision{0.9, 2000}, "other@1");
  keep(15, MeasuredPrecision{0.9, 2000});  // nobody says whose it is
  for (const std::uint64_t step : {20, 40}) keep(step, MeasuredPrecision{0.9, 2000}, "mine@2");
  keep(30, MeasuredPrecision{0.9, 2000}, "other@1");
  EXPECT_THAT(stay({.made = 40, .keep = 1, .run = "mine@2"}), ElementsAre(10, 15, 30, 40));
}

TEST_F(CheckpointFolder, ASamplesLuckMakesNoBest) {
  const auto best = [&] {
    const std::vector<FoundCheckpoint> found = find_checkpoints(folder.path());
    const auto index = best_checkpoint(found);
    return index ? found[*index].step : 0;
  };
  keep(5, std::nullopt);
  EXPECT_EQ(best(), 0U) << "nothing was measured";
  keep(10, MeasuredPrecision{1, 0});
  EXPECT_EQ(best(), 10U) << "nothing else was";
  keep(20, MeasuredPrecision{0.95, 2000});
  keep(30, MeasuredPrecision{0.95, 2000});
  keep(40, MeasuredPrecision{0.94, 2000});
  EXPECT_EQ(best(), 20U) << "the earliest of equals, and nobody knows what the 1 is of";
  keep(50, MeasuredPrecision{0.949, 10000});
  EXPECT_EQ(best(), 50U) << "of all, and at least 0.9468 where the sample says at least 0.9449";
  keep(60, MeasuredPrecision{0.957, 2000});
  EXPECT_EQ(best(), 60U) << "at least 0.9522";
}

TEST_F(CheckpointFolder, APrecisionIsReadAsItWasNoted) {
  keep(10, MeasuredPrecision{0.5, 2000});
  const Result<Manifest> manifest = read_manifest(folder.path() + "/" + checkpoint_name(10));
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  EXPECT_EQ(manifest->precision->at_1, 0.5);
  EXPECT_EQ(manifest->precision->examples, 2000U);
}

}  // namespace
}  // namespace sterna::actors
