#include "launcher/record/metrics_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "runtime/base/full_disk.h"
#include "tests/launcher/test_clock.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kEnd = 'E';  // in no line

/// A disk that has room for lines of so many bytes, and keeps none.
struct NearlyFull final : LineSink {
  const std::string& path() const override { return name; }
  Result<void> append(std::string_view line) override {
    if (line.size() > room) return Error{Errc::io, "no room"};
    return {};
  }
  Result<void> close() override { return {}; }
  const std::string name = "metrics.jsonl";
  std::atomic<std::size_t> room{30};
};

class MetricsFileTest : public testing::Test {
 protected:
  MetricsFile open(const std::string& path, Duration hangs = MetricsFile::kHangs) {
    const auto say = [this](const std::string& line) { said.push_back(line); };
    return {LineFile::create(path).value(), say, clock, hangs};
  }
  TemporaryFolder folder;
  TestClock clock;
  const std::string path = folder.path() + "/metrics.jsonl";
  std::vector<std::string> said;
};

TEST_F(MetricsFileTest, KeepsItsLinesInOrder) {
  MetricsFile file = open(path);
  file.append("one");
  file.append("two");
  ASSERT_TRUE(file.close().ok());
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "one\ntwo\n");
  EXPECT_THAT(said, IsEmpty());
}

TEST_F(MetricsFileTest, AFullDiskIsSaidOnce) {
  MetricsFile file = open("/dev/full");
  file.append("one");
  static_cast<void>(file.close());  // says so, if the line before was too early to
  file.append("two");
  file.append("three");
  EXPECT_THAT(said, ElementsAre(HasSubstr("No space left")));
  EXPECT_TRUE(file.close().ok()) << "it was said";
}

TEST_F(MetricsFileTest, ADiskThatWasFullForAWhileCostsTheLinesOfThatTimeAlone) {
  MetricsFile file = open(path);
  const SteadyClock steady;
  const Time deadline = steady.now() + std::chrono::seconds(60);
  const auto until_said = [&](std::size_t lines) {
    while (said.size() < lines && steady.now() < deadline) {
      file.look();
      std::this_thread::yield();
    }
  };
  {
    const FullDisk full(4);
    file.append("1st");
    file.append("a line that finds no room");
    file.append("another");
    until_said(1);
    // All of them have been tried once they are counted.
    while (file.lost() < 2 && steady.now() < deadline) std::this_thread::yield();
  }
  while (said.size() < 2 && steady.now() < deadline) {
    clock.time = clock.time + std::chrono::seconds(1);
    file.append("next");
    std::this_thread::yield();
  }
  ASSERT_TRUE(file.close().ok());
  EXPECT_THAT(*read_file(path), StartsWith("1st\n{\"kind\":\"lost\",\"lines\":2}\nnext\n"));
  EXPECT_EQ(file.lost(), 2U);
  EXPECT_THAT(said, ElementsAre(HasSubstr("File too large"),
                                HasSubstr("the disk takes lines again; 2 are lost")));
}

TEST_F(MetricsFileTest, ADiskThatTakesShortLinesAloneIsStillFull) {
  auto owned = std::make_unique<NearlyFull>();
  NearlyFull& disk = *owned;
  MetricsFile file(
      std::move(owned), [this](const std::string& line) { said.push_back(line); }, clock);
  const auto appended = [&](std::size_t bytes) {
    file.append(std::string(bytes, 'x'));
    static_cast<void>(file.close());  // waits for it
    file.look();
  };
  appended(100);
  for (int i = 0; i < 3; ++i) {
    appended(2);
    clock.time = clock.time + MetricsFile::kTakesAgain;
    file.look();
    appended(100);
  }
  EXPECT_THAT(said, ElementsAre("no room"));
  disk.room = 1000;
  appended(100);
  clock.time = clock.time + (MetricsFile::kTakesAgain - milliseconds(1));
  appended(100);
  EXPECT_THAT(said, SizeIs(1));
  clock.time = clock.time + milliseconds(1);
  appended(100);
  EXPECT_THAT(said, ElementsAre("no room", HasSubstr("the disk takes lines again; 4 are lost")));
}

// A pipe that nobody reads stands for a disk that hangs.
TEST_F(MetricsFileTest, ADiskThatHangsIsSaidAndHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // so that nobody waits for it
  ASSERT_GE(reader, 0);
  std::thread reading;
  {
    MetricsFile file = open(path, milliseconds(20));
    const SteadyClock steady;
    const Time deadline = steady.now() + std::chrono::seconds(60);
    const auto until_said = [&](std::size_t lines) {
      while (said.size() < lines && steady.now() < deadline) {
        file.append(std::string(1000, 'x'));
        std::this_thread::yield();
      }
    };
    until_said(1);
    reading = std::thread([reader] {
      std::array<char, 65536> bytes{};
      ssize_t count = 1;
      while (count > 0 && bytes[static_cast<std::size_t>(count) - 1] != kEnd) {
        count = ::read(reader, bytes.data(), bytes.size());
      }
    });
    until_said(2);
    EXPECT_THAT(said, ElementsAre(HasSubstr("the disk has not answered for"),
                                  HasSubstr("the disk answers again")));
    EXPECT_TRUE(file.close().ok());
  }
  ASSERT_EQ(::write(reader, &kEnd, 1), 1);
  reading.join();
  ::close(reader);
}

}  // namespace
}  // namespace sterna::launcher
