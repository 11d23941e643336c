// Wrong input, as a newcomer would give it: one line that says what is wrong and what to do, an
// exit code that is not 0, and nothing left behind.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "input/records/example.h"
#include "tests/end_to_end/run_test.h"
#include "tests/input/record_bytes.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTrainImages = "train-images-idx3-ubyte";
constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte";

class RunInput : public RunTest {
 protected:
  /// Called once everything that the test needs is in its folder.
  void expect_refused(const Arguments& arguments, int code,
                      const testing::Matcher<std::string>& line) {
    sterna({"--version"}).exit_code(kPatience);  // what any call leaves is there now
    const std::set<std::string> before = files();
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(kPatience), code) << program.story();
    const std::vector<std::string> lines = lines_of(program.err());
    ASSERT_EQ(lines.size(), 1U) << program.story();
    EXPECT_THAT(lines[0], line);
    EXPECT_EQ(files(), before);
    EXPECT_TRUE(program.processes().empty()) << program.story();
  }
  /// The same for a cluster file of this content.
  void expect_file_refused(const std::string& content, const testing::Matcher<std::string>& line) {
    write("bad.toml", content);
    expect_refused({"run", "bad.toml", "--data", digits()}, 2, line);
  }
  /// The job with one line (a key) instead of another.
  static std::string job_with(const std::string& line, const std::string& instead) {
    std::string job = kThirtySteps;
    const std::size_t at = job.find(line);
    EXPECT_NE(at, std::string::npos) << line;
    return job.replace(at, line.size(), instead);
  }
  /// A copy of the digits, in the test's folder, to be damaged.
  std::string own_digits() const {
    std::filesystem::copy(digits(), path("data"));
    return path("data") + "/";
  }
  void expect_data_refused(const testing::Matcher<std::string>& line) {
    expect_refused({"run", "job.toml", "--data", "data"}, 2, line);
  }

 private:
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
      const std::string name = entry.path().lexically_relative(folder()).string();
      if (!name.starts_with("std") && name != "runs") names.insert(name);
    }
    return names;
  }
};

// ---- the cluster file ----

TEST_F(RunInput, RefusesAFileThatIsNotThere) {
  expect_refused({"run", "nowhere.toml"}, 2, StartsWith("nowhere.toml: there is no such file"));
}

TEST_F(RunInput, RefusesAFolderInPlaceOfAFile) {
  expect_refused({"run", "."}, 2, AllOf(StartsWith(".: "), HasSubstr("directory")));
}

TEST_F(RunInput, RefusesATomlSyntaxError) {
  expect_file_refused(job_with("[job]", "[job"),
                      AllOf(StartsWith("bad.toml:17: "), HasSubstr("not valid TOML")));
}

TEST_F(RunInput, RefusesAMisspeltKey) {
  expect_file_refused(job_with("batch = 8", "bacth = 8"),
                      AllOf(StartsWith("bad.toml:20: "), HasSubstr("bacth"),
                            HasSubstr("did you mean \"job.batch\"")));
}

TEST_F(RunInput, RefusesAWrongType) {
  expect_file_refused(job_with("batch = 8", "batch = \"eight\""),
                      AllOf(StartsWith("bad.toml:20: "), HasSubstr("wants an integer")));
}

TEST_F(RunInput, RefusesANegativeCount) {
  expect_file_refused(job_with("count = 2", "count = -2"),
                      AllOf(StartsWith("bad.toml:9: "), HasSubstr("at least 1")));
}

TEST_F(RunInput, RefusesTwoActorsOfOneName) {
  expect_file_refused(kThirtySteps + "\n[[actor]]\nrole = \"input_reader\"\nname = \"server0\"\n",
                      AllOf(HasSubstr("named \"server0\""), HasSubstr("another name")));
}

TEST_F(RunInput, RefusesAMisspeltKeyOnTheCommandLine) {
  expect_refused({"run", "job.toml", "--data", digits(), "--set", "gradient.codek=none"}, 2,
                 AllOf(StartsWith("--set gradient.codek=none"), HasSubstr("gradient.codec")));
}

TEST_F(RunInput, RefusesAnOptionThatThereIsNot) {
  expect_refused({"run", "job.toml", "--jsno"}, 2, HasSubstr("did you mean \"--json\""));
}

// ---- the net ----

TEST_F(RunInput, RefusesAnUnknownNet) {
  expect_file_refused(job_with("\"lenet\"", "\"lennet\""),
                      AllOf(StartsWith("bad.toml:18: "), HasSubstr("did you mean \"lenet\"")));
}

TEST_F(RunInput, RefusesHiddenWidthsOfANetThatHasNone) {
  expect_file_refused(job_with("batch = 8", "batch = 8\nhidden = [300]"),
                      HasSubstr("\"job.hidden\" is for the net \"mlp\", not for \"lenet\""));
}

TEST_F(RunInput, RefusesPicturesThatAreSmallerThanTheNetTakes) {
  expect_file_refused(job_with("\"lenet\"", "\"inception_v3\""),
                      AllOf(StartsWith("job.net: "), HasSubstr("28 x 28"),
                            HasSubstr("none that is smaller than 107 x 107")));
}

TEST_F(RunInput, SaysWhichBatchFitsWhereOneDoesNotAndWhenALossIsNotFinite) {
  // 600 GB a rank.
  SternaProgram& large = run({"--set", "job.net=inception_v3", "--set", "data.size=299", "--set",
                              "data.preprocess=resize_crop", "--set", "job.batch=8000"});
  EXPECT_EQ(large.exit_code(kPatience), 1) << large.story();
  EXPECT_THAT(lines_of(large.err()).back(),
              AllOf(HasSubstr("inception_v3 at 8000 images at once takes"),
                    HasSubstr("set job.micro_batch to")));
  SternaProgram& wild = run({"--set", "optimizer.learning_rate=1e30"});
  EXPECT_EQ(wild.exit_code(kPatience), 1) << wild.story();
  EXPECT_THAT(lines_of(wild.err()).back(), testing::ContainsRegex("step [0-9]+: the loss is"));
}

// ---- the data ----

TEST_F(RunInput, RefusesAnEmptyDataFolder) {
  std::filesystem::create_directory(path("data"));
  expect_data_refused(AllOf(HasSubstr("--data data holds no data: it is empty"),
                            HasSubstr("mnist/, digits/"), HasSubstr("for each class")));
}

TEST_F(RunInput, RefusesADataFolderThatIsNotThere) {
  expect_data_refused(AllOf(HasSubstr("--data data does not exist"), HasSubstr("correct it")));
}

TEST_F(RunInput, RefusesATruncatedImagesFile) {
  std::filesystem::resize_file(own_digits() + kTrainImages, 100'000);
  expect_data_refused(
      AllOf(StartsWith(std::string("data/") + kTrainImages), HasSubstr("cut short")));
}

TEST_F(RunInput, RefusesATruncatedCompressedFile) {
  const std::string images = own_digits() + kTrainImages;
  ASSERT_EQ(std::system(("gzip " + images).c_str()), 0);
  std::filesystem::resize_file(images + ".gz", 50'000);
  expect_data_refused(
      AllOf(StartsWith(std::string("data/") + kTrainImages + ".gz"), HasSubstr("cut short")));
}

TEST_F(RunInput, ACompressedFileThatIsWholeIsWelcome) {
  ASSERT_EQ(std::system(("gzip " + own_digits() + kTrainImages).c_str()), 0);
  SternaProgram& program = sterna({"run", "job.toml", "--data", "data", "--set", "job.steps=1"});
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
}

TEST_F(RunInput, SyntheticPicturesOfAnyShapeNeedNoFiles) {
  SternaProgram& program = sterna({"run", "job.toml", "--run-dir", "run", "--set", "job.steps=1",
                                   "--set", "data.name=synthetic", "--set", "data.size=28", "--set",
                                   "data.channels=1", "--set", "data.classes=7"});
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_EQ(result()["data"], "synthetic");
}

TEST_F(RunInput, RefusesAFileWithAnothersMagicNumber) {
  const std::string data = own_digits();
  std::filesystem::copy_file(data + kTrainImages, data + kTestLabels,
                             std::filesystem::copy_options::overwrite_existing);
  expect_data_refused(
      AllOf(StartsWith(std::string("data/") + kTestLabels), HasSubstr("0x00000803")));
}

TEST_F(RunInput, RefusesImagesAndLabelsThatAreNotOfOneSet) {
  const std::string data = own_digits();
  std::filesystem::copy_file(data + "train-labels-idx1-ubyte", data + kTestLabels,
                             std::filesystem::copy_options::overwrite_existing);
  expect_data_refused(HasSubstr("2000 labels for the 500 images"));
}

TEST_F(RunInput, RefusesAnUnreadableFile) {
  const std::string labels = own_digits() + kTestLabels;
  if (::geteuid() == 0) {  // may read everything, but not a folder
    std::filesystem::remove(labels);
    std::filesystem::create_directory(labels);
  } else {
    std::filesystem::permissions(labels, std::filesystem::perms::none);
  }
  expect_data_refused(StartsWith(std::string("data/") + kTestLabels));
}

/// "records", a folder of TFRecord files: as many pictures to train on as two ranks take in a step
/// of the job, so that each step sees all of them, and some to test with.
class RunRecords : public RunInput {
 protected:
  static constexpr std::uint64_t kPictures = 16;
  static constexpr const char* kFile = "train-00000-of-00001";

  void SetUp() override {
    RunInput::SetUp();
    const auto record = [](std::uint64_t i) {
      input::PictureRecord picture;
      picture.coding = input::Coding::pixels;
      picture.shape = {28, 28, 1};
      picture.bytes.assign(picture.shape.bytes(), static_cast<char>(7 * i));
      picture.label = static_cast<std::int64_t>(i % 10);
      return input::pack_picture_record(picture);
    };
    std::vector<std::vector<std::uint8_t>> records;
    for (std::uint64_t i = 0; i < kPictures; ++i) records.push_back(record(i));
    std::filesystem::create_directory(path("records"));
    input::write_records(file(), records);
    input::write_records(path("records/validation-00000-of-00001"), {record(1), record(2)});
  }
  std::string file() const { return path("records/") + kFile; }
  /// Changes a byte in the middle of that record; they are all as long. What errors call it.
  std::string damage(std::uint64_t number) const {
    const std::uint64_t bytes = std::filesystem::file_size(file()) / kPictures;
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(number * bytes + bytes / 2));
    stream.put('\x7f');
    return std::string(kFile) + ": record " + std::to_string(number) + " at byte " +
           std::to_string(number * bytes);
  }
  SternaProgram& train(const std::string& most_bad) {
    Arguments arguments = {"run", "job.toml", "--data", "records", "--run-dir", "run"};
    const Arguments more =
        with({"job.steps=3", "data.preprocess=mnist", "data.size=28", "data.channels=1",
              "data.classes=10", "data.most_bad=" + most_bad});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sterna(arguments);
  }
};

TEST_F(RunRecords, OneThatIsDamagedIsLeftOutAndToldOfOnceWhereSoManyMayBe) {
  const std::string place = damage(3);
  SternaProgram& program = train("0.1");
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_EQ(result()["steps"], 3);
  EXPECT_EQ(result()["data"], "tfrecord");
  EXPECT_EQ(result()["left_out_examples"], 1);
  std::vector<std::string> lines = lines_of(content_of(path("run/logs/reader0.log")));
  std::erase_if(lines, [](const std::string& line) {
    return line.find("left out, as it is damaged: ") == line.npos;
  });
  EXPECT_THAT(lines, testing::ElementsAre(HasSubstr(place + ": its data do not match their CRC")))
      << "once, though each step has come to it";
}

TEST_F(RunRecords, OneThatIsDamagedEndsTheRunWithItsFileAndPlaceWhereNoneMayBe) {
  const std::string place = damage(3);
  SternaProgram& program = train("0.0");
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(lines_of(program.err()).back(),
              AllOf(testing::MatchesRegex("reader0#1 is dead: step [0-9], batch of rank [01]: 1 of "
                                          "16 examples are damaged, .*"),
                    HasSubstr(place)))
      << "no worker is to blame";
  EXPECT_FALSE(result().contains("actor_restarts")) << "it would happen again";
}

TEST_F(RunRecords, ADamagedTestExampleCountsNowhereAndIsToldOf) {
  const std::string validation = "records/validation-00000-of-00001";
  {
    std::fstream stream(path(validation), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path(validation)) / 4));
    stream.put('\x7f');
  }
  SternaProgram& program = train("0.1");
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_THAT(program.err() + program.out(),
              HasSubstr("step 3: 1 of 2 test examples is damaged and left out; "));
  const auto last = result()["evaluations"].back();
  EXPECT_EQ(last["examples"], 1);
  EXPECT_EQ(last["left_out_examples"], 1);
  SternaProgram& evaluated = sterna({"eval", "--weights", "run", "--json"});
  ASSERT_EQ(evaluated.exit_code(kPatience), 0) << evaluated.story();
  EXPECT_THAT(evaluated.out(), HasSubstr("\"examples\":1,\"left_out_examples\":1,"));
  EXPECT_THAT(evaluated.err(), AllOf(StartsWith("1 of 2 test examples is damaged and left out, "
                                                "such as "),
                                     HasSubstr(validation + ": record 0 at byte 0")));
}

// ---- the run directory ----

TEST_F(RunInput, RefusesARunDirectoryThatExists) {
  std::filesystem::create_directory(path("run"));
  expect_refused({"run", "job.toml", "--data", digits(), "--run-dir", "run"}, 2,
                 HasSubstr("run is there already, and no run's directory; give another --run-dir"));
}

TEST_F(RunInput, RefusesARunDirectoryThatCannotBeMade) {
  write("file", "");
  expect_refused({"run", "job.toml", "--data", digits(), "--run-dir", "file/run"}, 2,
                 HasSubstr("cannot create the run directory"));
}

TEST_F(RunInput, RefusesARunDirectoryThatCannotBeMadeBeforeItDrawsDigits) {
  write("file", "");
  expect_refused({"run", "job.toml", "--run-dir", "file/run"}, 2,
                 HasSubstr("cannot create the run directory"));
}

// ---- ports ----

/// Holds a port of 127.0.0.1.
class HeldPort {
 public:
  HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    number = ntohs(address.sin_port);
  }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  ~HeldPort() { ::close(socket_); }
  int number = 0;

 private:
  int socket_;
};

TEST_F(RunInput, RefusesAPortThatIsInUse) {
  // As many as the job's processes need, but one of them is taken.
  const HeldPort port;
  const std::string range = std::to_string(port.number) + "-" + std::to_string(port.number + 15);
  SternaProgram& program = run({"--set", "cluster.transport=tcp", "--set",
                                "cluster.ports=\"" + range + "\"", "--run-dir", "run"});
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(program.err(), AllOf(HasSubstr(range + " is in use"), HasSubstr("widen the range")));
  EXPECT_TRUE(program.processes().empty()) << program.story();
}

TEST_F(RunInput, RefusesTooFewPortsForAllProcesses) {
  const int low = HeldPort().number;
  const std::string range = std::to_string(low) + "-" + std::to_string(low + 1);
  expect_refused({"run", "job.toml", "--data", digits(), "--set", "cluster.transport=tcp", "--set",
                  "cluster.ports=\"" + range + "\""},
                 2, HasSubstr("2 ports are too few for the 8 processes"));
}

// ---- the disk ----

class RunDisk : public RunInput {
 protected:
  void SetUp() override {
    RunInput::SetUp();
    const uid_t user = ::geteuid();
    if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return;
    if (user != 0) {
      const std::string map = std::to_string(user) + " " + std::to_string(user) + " 1";
      std::ofstream("/proc/self/uid_map") << map;
    }
    std::filesystem::create_directory(path("disk"));
    private_ = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
  void TearDown() override {
    RunInput::TearDown();
    ::umount2(path("disk").c_str(), MNT_DETACH);
  }
  /// A small disk at "disk"; false where the system lets nobody have one.
  bool mount(const char* size) {
    return private_ && ::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, size) == 0;
  }

 private:
  bool private_ = false;
};

TEST_F(RunDisk, ThatHasNoRoomIsFoundBeforeARun) {
  if (!mount("size=1m")) GTEST_SKIP() << "NO SMALL DISK: mounting one is not allowed here";
  expect_refused({"run", "job.toml", "--data", digits(), "--run-dir", "disk/run"}, 2,
                 AllOf(StartsWith("disk/run: "), HasSubstr("make room")));
}

TEST_F(RunDisk, ThatIsFullNeedsOneLineToo) {
  if (!mount("size=1m")) GTEST_SKIP() << "NO SMALL DISK: mounting one is not allowed here";
  std::ofstream(path("disk/filler")) << std::string(2 << 20, 'x');
  expect_refused({"run", "job.toml", "--data", digits(), "--run-dir", "disk/run"}, 2,
                 HasSubstr("disk/run"));
}

TEST_F(RunDisk, ThatFillsUpWhileTrainingFailsTheRunWithThatCause) {
  if (!mount("size=80m")) GTEST_SKIP() << "NO SMALL DISK: mounting one is not allowed here";
  SternaProgram& program = run({"--run-dir", "disk/run", "--set", "job.steps=60", "--set",
                                "evaluator.every=0", "--set", unhurried()});
  ASSERT_TRUE(trains(program, "disk/run")) << program.story();
  std::ofstream(path("disk/filler")) << std::string(100 << 20, 'x');
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  const std::vector<std::string> lines = lines_of(program.err());
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), HasSubstr("No space left on device"));
  EXPECT_FALSE(exists("disk/run/weights.safetensors"));
}

}  // namespace
}  // namespace sterna::test
