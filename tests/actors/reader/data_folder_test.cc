#include "actors/reader/data_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

class DataFolderTest : public testing::Test {
 protected:
  DataFolderTest() {
    ::setenv("HOME", scratch_.path().c_str(), 1);
    ::unsetenv("STERNA_DATA");
    ::unsetenv("XDG_CACHE_HOME");
  }
  /// Makes a folder with (empty) files of MNIST's names.
  std::string data_in(const std::string& name) const {
    fs::create_directories(scratch_ / name);
    for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                             "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
      std::ofstream(scratch_ / name / file);
    }
    return (scratch_ / name).string();
  }
  /// Of a job that names this folder.
  static DataSection job_with(const std::string& dir) {
    DataSection data;
    data.name = "mnist";
    data.dir = dir;
    return data;
  }
  TemporaryFolder scratch_;
};

TEST_F(DataFolderTest, IsTheOneThatTheJobNames) {
  const std::string data = data_in("data");
  EXPECT_EQ(training_folder(job_with(data), {}).value(), data);
  EXPECT_EQ(test_folder(job_with(data)).value(), data);
}

TEST_F(DataFolderTest, MayBeginWithThisHostsHome) {
  EXPECT_FALSE(training_folder(job_with("~/data"), {}).ok());
  const std::string data = data_in("data");
  EXPECT_EQ(training_folder(job_with("~/data"), {}).value(), data);
}

TEST_F(DataFolderTest, IsTheEnvironmentsWhereTheJobNamesNone) {
  const std::string data = data_in("env");
  ::setenv("STERNA_DATA", data.c_str(), 1);
  EXPECT_EQ(training_folder(job_with(""), {}).value(), data);
}

TEST_F(DataFolderTest, OfAReaderIsItsShardsAndOfTheEvaluatorAny) {
  const std::string shard = data_in("data/shard-1-of-2");
  std::ofstream(scratch_ / "data/shard-1-of-2" / input::kShardFile);
  const DataSection data = job_with((scratch_ / "data").string());
  EXPECT_EQ(training_folder(data, input::ShardId{1, 2}).value(), shard);
  EXPECT_FALSE(training_folder(data, input::ShardId{0, 2}).ok());
  EXPECT_EQ(test_folder(data).value(), shard);
}

}  // namespace
}  // namespace sterna::actors
