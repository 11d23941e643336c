#include "launcher/record/read_metrics.h"

#include <gtest/gtest.h>

#include <fstream>

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

}  // namespace
}  // namespace sterna::launcher
