// What commands do not write over.
#include "launcher/record/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

class OutputFile : public testing::Test {
 protected:
  std::string put(const std::string& name) const {
    std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "there";
    return path.string();
  }
  TemporaryFolder folder_;
};

TEST_F(OutputFile, OfItsKindIsReplacedAndAnyOtherKept) {
  EXPECT_TRUE(check_output(folder_.path() + "/new", ".csv", "--confusion").ok());
  EXPECT_TRUE(check_output("", ".csv", "--confusion").ok());
  EXPECT_TRUE(check_output(put("old.csv"), ".csv", "--confusion").ok());
  const std::string other = put("result.json");
  const Result<void> refused = check_output(other, ".csv", "--confusion");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  EXPECT_EQ(
      refused.error().message,
      "--confusion " + other + " is there already and does not end in .csv; name another file");
}

TEST_F(OutputFile, OfARunOrACheckpointIsKept) {
  put("run/resolved.toml");
  put("run/checkpoints/step-1/manifest.json");
  for (const char* name : {"run/weights.safetensors", "run/checkpoints/step-1/a.safetensors"}) {
    const Result<void> refused = check_output(put(name), ".safetensors", "--into");
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error().message, testing::HasSubstr("is what a run left; name another"));
  }
  EXPECT_FALSE(check_output(put("run/confusion.csv"), ".csv", "--confusion").ok());
  EXPECT_FALSE(check_output(put("run/result.json"), ".json", "--out").ok());
  EXPECT_TRUE(check_output(put("run/trace.json"), ".json", "--out").ok());
  EXPECT_TRUE(check_output(put("run/own.csv"), ".csv", "--confusion").ok());
  EXPECT_TRUE(check_output(put("elsewhere/weights.safetensors"), ".safetensors", "--into").ok());
}

}  // namespace
}  // namespace sterna::launcher
