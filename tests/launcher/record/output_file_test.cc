// What commands do not write over.
#include "launcher/record/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
  EXPECT_TRUE(output_file(folder_.path() + "/new", ".csv", "--confusion").ok());
  EXPECT_TRUE(output_file("", ".csv", "--confusion").ok());
  EXPECT_TRUE(output_file(put("old.csv"), ".csv", "--confusion").ok());
  const std::string other = put("result.json");
  const Result<std::string> refused = output_file(other, ".csv", "--confusion");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  EXPECT_EQ(
      refused.error().message,
      "--confusion " + other + " is there already and does not end in .csv; name another file");
}

TEST_F(OutputFile, IsWhereALinkLeads) {
  const std::string file = put("precious.csv");
  const std::string link = folder_.path() + "/link.csv";
  std::filesystem::create_symlink("precious.csv", link);
  const Result<std::string> found = output_file(link, ".csv", "--confusion");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, std::filesystem::canonical(file).string());

  std::filesystem::remove(link);
  std::filesystem::create_symlink(put("precious.txt"), link);
  const Result<std::string> otherwise = output_file(link, ".csv", "--confusion");
  ASSERT_FALSE(otherwise.ok());
  EXPECT_THAT(otherwise.error().message, testing::HasSubstr("precious.txt) is there already and"));

  std::filesystem::remove(folder_.path() + "/precious.txt");
  const Result<std::string> nowhere = output_file(link, ".csv", "--confusion");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "--confusion " + link +
                " is there already and is a link that leads nowhere; name another file");
}

TEST_F(OutputFile, TakesTheNameOfNoDevicePipeOrFolder) {
  const std::string pipe = folder_.path() + "/pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string link = folder_.path() + "/link.csv";
  std::filesystem::create_symlink(pipe, link);
  const std::string dir = folder_.path() + "/dir.csv";
  std::filesystem::create_directory(dir);
  for (const std::string& path : {pipe, link, dir}) {
    const Result<std::string> refused = output_file(path, ".csv", "--confusion");
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_EQ(refused.error().code, Errc::already_exists);
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr(" is there already and is no regular file; name another file"));
  }
}

TEST_F(OutputFile, OfARunOrACheckpointIsKept) {
  put("run/resolved.toml");
  put("run/checkpoints/step-1/manifest.json");
  for (const char* name : {"run/weights.safetensors", "run/checkpoints/step-1/a.safetensors"}) {
    const Result<std::string> refused = output_file(put(name), ".safetensors", "--into");
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error().message, testing::HasSubstr("is what a run left; name another"));
  }
  EXPECT_FALSE(output_file(put("run/confusion.csv"), ".csv", "--confusion").ok());
  EXPECT_FALSE(output_file(put("run/result.json"), ".json", "--out").ok());
  EXPECT_TRUE(output_file(put("run/trace.json"), ".json", "--out").ok());
  EXPECT_TRUE(output_file(put("run/own.csv"), ".csv", "--confusion").ok());
  EXPECT_TRUE(output_file(put("elsewhere/weights.safetensors"), ".safetensors", "--into").ok());
}

}  // namespace
}  // namespace sterna::launcher
