// Nobody waits for what writes slowly; what is lost is counted, and said.
#include "runtime/loop/text_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <vector>

namespace sterna {
namespace {

using testing::ElementsAre;

constexpr Duration kLong = std::chrono::seconds(60);

/// A disk that hangs until it is told.
class Disk {
 public:
  explicit Disk(bool hangs) : hangs_(hangs) {}
  void write(std::string_view text) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hangs_; });
    texts_.emplace_back(text);
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    hangs_ = false;
    changed_.notify_all();
  }
  void await_first() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, kLong, [this] { return begun_ > 0; }));
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_;
  int begun_ = 0;
  std::vector<std::string> texts_;
};

TextWriter::Write onto(const std::shared_ptr<Disk>& disk) {
  return [disk](std::string_view text) { disk->write(text); };
}

TEST(TextWriter, WritesInOrder) {
  const auto disk = std::make_shared<Disk>(false);
  TextWriter writer(onto(disk));
  for (const char* text : {"a", "b", "c"}) writer.put(text);
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_TRUE(writer.idle());
  EXPECT_THAT(disk->texts(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(writer.lost(), 0U);
}

TEST(TextWriter, NobodyWaitsForADiskThatHangsAndWhatIsLostIsSaid) {
  const auto disk = std::make_shared<Disk>(true);
  TextWriter writer(onto(disk), {.most_bytes = 3, .instead = [](std::uint64_t lost) {
                                   return std::to_string(lost) + " lost";
                                 }});
  writer.put("a");
  disk->await_first();      // which the thread has taken
  writer.put("something");  // too long for the queue
  for (const char* text : {"b", "c", "d", "e", "f"}) writer.put(text);
  EXPECT_EQ(writer.lost(), 3U);
  EXPECT_FALSE(writer.idle());
  EXPECT_FALSE(writer.flush(Duration::zero()));
  EXPECT_GT(writer.writing_for(), Duration::zero());
  disk->go_on();
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(writer.writing_for(), Duration::zero());
  EXPECT_THAT(disk->texts(), ElementsAre("a", "b", "c", "d", "3 lost"));
}

TEST(TextWriter, OneWhoseDiskHangsEndsAllTheSame) {
  const auto disk = std::make_shared<Disk>(true);
  {
    TextWriter writer(onto(disk), {.patience = std::chrono::milliseconds(1)});
    writer.put("a");
    writer.put("b");
  }
  disk->go_on();
}

TEST(TextWriter, AFullPipeIsWaitedForByTheWriterAlone) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const std::string large(100'000, 'x');  // more than a pipe holds
  {
    TextWriter writer(to_descriptor(ends[1]), {.patience = kLong});
    writer.put(large);
    writer.put("end");
    EXPECT_FALSE(writer.idle());
    std::string got;
    std::vector<char> piece(65536);
    ::fcntl(ends[0], F_SETFL, 0);  // wait for more
    while (got.size() < large.size() + 3) {
      const ssize_t size = ::read(ends[0], piece.data(), piece.size());
      ASSERT_GT(size, 0);
      got.append(piece.data(), static_cast<std::size_t>(size));
    }
    EXPECT_EQ(got, large + "end");
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TextWriter, SaysWhyItsDescriptorTookNothing) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const auto failed = std::make_shared<std::atomic<int>>(0);
  TextWriter writer(to_descriptor(ends[1], failed));
  writer.put("read");
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(*failed, 0);
  ::close(ends[0]);
  writer.put("unread");
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(*failed, EPIPE);
  ::close(ends[1]);
}

}  // namespace
}  // namespace sterna
