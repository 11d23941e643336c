// What comes back of other hosts' files, and what a run says of those that do not.
#include "launcher/job/run_files_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/base/bytes.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kJob = R"(format = 1
[cluster]
placer = "join"
[[host]]
name = "a"
address = "10.77.1.1"
[[host]]
name = "b"
address = "10.77.1.2"
[[actor]]
role = "parameter_server"
hosts = ["a"]
[[actor]]
role = "worker"
hosts = ["a"]
[[actor]]
role = "input_reader"
hosts = ["a"]
[[actor]]
role = "evaluator"
hosts = ["b"]
[job]
net = "lenet"
steps = 10
[data]
name = "digits"
)";

class RunFilesBack : public testing::Test {
 protected:
  RunFilesBack() {
    const Result<ClusterFile> file = parse_cluster_file(kJob, "job.toml", {});
    EXPECT_TRUE(file.ok()) << file.error().message;
    options.file = *file;
    options.file.cluster.head = "a";
    options.id = "dj-1";
    options.weights = folder / "weights.safetensors";
    options.log_directory = folder.path();
  }

  FilesBack fetch(bool finished = true) {
    const NodeFiles nodes{
        [](const std::string& name) {
          return name == "node-a" ? std::nullopt : std::optional(ProcessId{7});
        },
        [](const std::string& actor) { return actor == "evaluator0" ? "b" : "a"; },
        [this](const ReadFile& question) { return read(question); }};
    return fetch_files(nodes, options, finished, [] { return false; });
  }
  /// At most four bytes a piece.
  Result<FilePiece> read(const ReadFile& question) {
    asked.push_back(question.name);
    if (const auto broken = errors.find(question.name); broken != errors.end()) {
      return broken->second;
    }
    const auto found = there.find(question.name);
    if (found == there.end()) return Error{Errc::not_found, question.name + " is not there"};
    const std::string piece = found->second.substr(question.offset, 4);
    return FilePiece{found->second.size(), copy_bytes(piece)};
  }
  /// "none" where it is not there.
  std::string here(const std::string& name) const {
    std::ifstream file(folder / name);
    if (!file) return "none";
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TemporaryFolder folder;
  JobOptions options;
  std::map<std::string, std::string> there;
  std::map<std::string, Error> errors;
  std::vector<std::string> asked;
};

TEST_F(RunFilesBack, AFileThatAHostDoesNotHaveSkipsItselfAlone) {
  there = {{"evaluator0.log", "it evaluates"}, {"weights.safetensors", "parameters"}};
  const FilesBack back = fetch();
  EXPECT_EQ(here("weights.safetensors"), "parameters");
  EXPECT_EQ(here("evaluator0.log"), "it evaluates");
  EXPECT_EQ(here("node-b.log"), "none") << "who was joined by hand keeps none";
  EXPECT_THAT(back.left, IsEmpty());
  EXPECT_EQ(back.weights_left, "");
  EXPECT_EQ(asked.front(), "weights.safetensors");
}

TEST_F(RunFilesBack, WeightsThatStayAreSaidWithTheirPlace) {
  there = {{"evaluator0.log", "it evaluates"}};
  std::ofstream(options.weights) << "of a run before";
  const FilesBack back = fetch();
  EXPECT_THAT(back.weights_left,
              HasSubstr("the final weights stay on b, in ~/.cache/sterna/runs/dj-1/"
                        "weights.safetensors: weights.safetensors is not there"));
  EXPECT_EQ(here("evaluator0.log"), "it evaluates");
  EXPECT_EQ(here("weights.safetensors"), "of a run before");
  EXPECT_EQ(here("weights.safetensors.part"), "none");
}

TEST_F(RunFilesBack, AHostThatDoesNotAnswerIsNotAskedForEachOfItsLogs) {
  errors = {{"node-b.log", {Errc::deadline, "no answer"}}};
  const FilesBack back = fetch(false);
  EXPECT_THAT(asked, ElementsAre("node-b.log"));
  EXPECT_THAT(back.left, ElementsAre("the logs of b stay there, in ~/.cache/sterna/runs/dj-1: "
                                     "no answer"));
  EXPECT_EQ(back.weights_left, "") << "it was not done";
}

TEST_F(RunFilesBack, EmptyWeightsAreNone) {
  there = {{"weights.safetensors", ""}};
  EXPECT_THAT(fetch().weights_left, HasSubstr("weights.safetensors: the file is empty there"));
  EXPECT_EQ(here("weights.safetensors"), "none");
  EXPECT_EQ(here("weights.safetensors.part"), "none");
}

TEST_F(RunFilesBack, AFullDiskHereEndsItWithOneLine) {
  HostSection c = options.file.hosts.back();
  c.name = "c";
  options.file.hosts.push_back(c);
  std::filesystem::create_symlink("/dev/full", folder / "node-b.log");
  there = {{"node-b.log", "more than a piece"}, {"evaluator0.log", "it evaluates"}};
  const FilesBack back = fetch(false);
  EXPECT_THAT(asked, ElementsAre("node-b.log"));
  EXPECT_THAT(back.left, ElementsAre("the logs of b stay there, in ~/.cache/sterna/runs/dj-1: "
                                     "cannot write " +
                                     (folder / "node-b.log").string() +
                                     ": No space left on device; those of c are not fetched"));
}

TEST_F(RunFilesBack, ALogThatCannotBeReadSkipsItselfAlone) {
  there = {{"evaluator0.log", "it evaluates"}};
  errors = {{"node-b.log", {Errc::io, "cannot be read"}}};
  const FilesBack back = fetch(false);
  EXPECT_THAT(back.left, ElementsAre(HasSubstr("cannot be read")));
  EXPECT_EQ(here("evaluator0.log"), "it evaluates");
}

}  // namespace
}  // namespace sterna::launcher
