#include "launcher/record/metrics_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "runtime/base/full_disk.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kEnd = 'E';  // in no line

class MetricsFileTest : public testing::Test {
 protected:
  MetricsFile open(const std::string& path, Duration hangs = MetricsFile::kHangs) {
    const auto say = [this](const std::string& line) { said.push_back(line); };
    return {LineFile::create(path).value(), say, hangs};
  }
  TemporaryFolder folder;
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
  const SteadyClock clock;
  const Time deadline = clock.now() + std::chrono::seconds(60);
  const auto until_said = [&](std::size_t lines) {
    while (said.size() < lines && clock.now() < deadline) {
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
    while (file.lost() < 2 && clock.now() < deadline) std::this_thread::yield();
  }
  file.append("last");
  until_said(2);
  ASSERT_TRUE(file.close().ok());
  EXPECT_EQ(*read_file(path), "1st\n{\"kind\":\"lost\",\"lines\":2}\nlast\n");
  EXPECT_EQ(file.lost(), 2U);
  EXPECT_THAT(said, ElementsAre(HasSubstr("File too large"),
                                HasSubstr("the disk takes lines again; 2 are lost")));
}

// A pipe that nobody reads stands for a disk that hangs.
TEST_F(MetricsFileTest, ADiskThatHangsIsSaidAndHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // so that nobody waits for it
  ASSERT_GE(reader, 0);
  std::thread reading;
  {
    MetricsFile file = open(path, milliseconds(20));
    const SteadyClock clock;
    const Time deadline = clock.now() + std::chrono::seconds(60);
    const auto until_said = [&](std::size_t lines) {
      while (said.size() < lines && clock.now() < deadline) {
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
