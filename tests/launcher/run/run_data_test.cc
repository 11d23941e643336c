#include "launcher/run/run_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "input/digits/digits.h"
#include "input/place/data_set.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// On here, this machine, are the servers and workers; who reads is on the host that `reads` names.
ClusterFile file_of(const std::string& reads, const std::vector<std::string>& settings = {}) {
  const std::string text = R"(format = 1
[cluster]
head = "here"
[[host]]
name = "here"
[[host]]
name = "there"
ssh = "there"
[[actor]]
role = "parameter_server"
hosts = ["here"]
[[actor]]
role = "worker"
hosts = ["here"]
[[actor]]
role = "input_reader"
hosts = [")" + reads + R"("]
[[actor]]
role = "evaluator"
hosts = [")" + reads + R"("]
[job]
net = "lenet"
steps = 10
)";
  Result<ClusterFile> file = parse_cluster_file(text, "x.toml", settings);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? *std::move(file) : ClusterFile();
}

class RunData : public testing::Test {
 protected:
  RunData() : console_{std::tmpfile(), std::tmpfile()} {}
  ~RunData() override {
    std::fclose(console_.out);
    std::fclose(console_.err);
  }
  const Console& console() const { return console_; }
  std::string drawn() const {
    EXPECT_TRUE(input::make_digits(folder_.path(), {.seed = 3, .train = 4, .test = 2}).ok());
    return folder_.path();
  }

 private:
  TemporaryFolder folder_;
  Console console_;
};

TEST_F(RunData, IsNeededHereWhereWhoReadsItIsHereOrEpochsAreCounted) {
  EXPECT_TRUE(needs_data_here(file_of("here")));
  EXPECT_FALSE(needs_data_here(file_of("there")));
  ClusterFile epochs = file_of("there");
  epochs.job.steps = 0;
  epochs.job.epochs = 2;
  EXPECT_TRUE(needs_data_here(epochs));
}

TEST_F(RunData, ElsewhereIsOfOneNameSoThatNoTwoHostsFindDifferentSets) {
  EXPECT_EQ(data_elsewhere(file_of("there")).name, input::usual_data_set().name);
  EXPECT_EQ(data_elsewhere(file_of("there", {"data.name=cifar10"})).name, "cifar10");
}

TEST_F(RunData, OfTheFlagGoesBeforeThatOfTheFile) {
  const std::string folder = drawn();
  const auto found = find_run_data(folder, file_of("here", {"data.dir=/nowhere"}), console());
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->dir, folder);
  EXPECT_EQ(found->name, "digits");
}

TEST_F(RunData, ThatIsNotInTheFolderOfAHostNamesTheHost) {
  ClusterFile file = file_of("here");
  file.hosts[0].data = "/nowhere";
  EXPECT_THAT(
      find_run_data("", file, console()).error().message,
      StartsWith("host \"here\": the cluster file's data directory /nowhere does not exist"));
  file.hosts[0].data = drawn();
  EXPECT_TRUE(find_run_data("", file, console()).ok());
}

TEST_F(RunData, OfAnotherSetThanIsAskedForIsRefused) {
  EXPECT_THAT(
      find_run_data(drawn(), file_of("here", {"data.name=mnist"}), console()).error().message,
      HasSubstr("holds digits, but data.name asks for mnist"));
}

TEST(DataFlag, ThatNobodyWouldLookIntoIsRefused) {
  EXPECT_TRUE(check_data_flag("/data", file_of("here")).ok());
  EXPECT_TRUE(check_data_flag("", file_of("there")).ok());
  EXPECT_EQ(check_data_flag("/data", file_of("there")).error().message,
            "--data is for the machine that the run is started on, and the actors that read data "
            "are on there: set data.dir, the folder on all of them, or host.data of each");
  EXPECT_TRUE(check_data_flag("/data", file_of("there", {"gradient.floating_grad_epoch=1"})).ok())
      << "its examples are counted here";
}

}  // namespace
}  // namespace sterna::launcher
