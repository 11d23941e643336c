// A channel over pipes in place of standard input and output.
#include "launcher/owner/word_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class WordChannelTest : public testing::Test {
 protected:
  WordChannelTest() {
    EXPECT_EQ(::pipe2(to_it_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_it_.data(), O_CLOEXEC), 0);
    ::fcntl(from_it_[0], F_SETFL, O_NONBLOCK);
  }
  ~WordChannelTest() override {
    channel_.reset();
    hang_up();
    for (const int end : {to_it_[0], from_it_[0], from_it_[1]}) ::close(end);
  }

  /// Does something that uses standard input and output, while those are the pipes.
  template <class Work>
  void with_standard_streams(Work work) {
    const int input = ::dup(STDIN_FILENO);
    const int output = ::dup(STDOUT_FILENO);
    ::dup2(to_it_[0], STDIN_FILENO);
    ::dup2(from_it_[1], STDOUT_FILENO);
    work();
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::close(input);
    ::close(output);
  }
  void open_channel() {
    with_standard_streams([&] {
      channel_.emplace(
          loop_, WordChannel::Events{[this](const OwnerWord& word) { heard_.push_back(word.kind); },
                                     [this] { ++ended_; }});
    });
  }
  /// As the launcher says it.
  void say_bytes(std::string_view bytes) {
    EXPECT_EQ(::write(to_it_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void say(const OwnerWord& word) { say_bytes(text_of(as_written(word).view())); }
  void hang_up() {
    if (to_it_[1] >= 0) ::close(std::exchange(to_it_[1], -1));
  }
  /// What the launcher has read until now, of what is there at this moment.
  const std::vector<std::string>& read_words() {
    std::string bytes(std::size_t{64} << 10, '\0');
    for (ssize_t got = 1; got > 0;) {
      got = ::read(from_it_[0], bytes.data(), bytes.size());
      if (got > 0) {
        EXPECT_TRUE(reader_.take({bytes.data(), static_cast<std::size_t>(got)}));
      }
    }
    return read_;
  }
  bool wait_for(const std::function<bool()>& done) {
    return loop_.run_until(done, loop_.now() + 10s);
  }

  std::array<int, 2> to_it_{};
  std::array<int, 2> from_it_{};
  UvLoop loop_;
  std::vector<std::string> heard_;
  int ended_ = 0;
  std::optional<WordChannel> channel_;

 private:
  std::vector<std::string> read_;
  WordReader reader_{[this](const OwnerWord& word) { read_.push_back(word.kind); }};
};

TEST_F(WordChannelTest, HearsEveryWordOfTheLauncher) {
  open_channel();
  say({"ended", "lost", {}, 3});
  say({"detach"});
  EXPECT_TRUE(wait_for([&] { return heard_.size() == 2; }));
  EXPECT_THAT(heard_, ElementsAre("ended", "detach"));
}

TEST_F(WordChannelTest, SaysOnceThatTheLauncherIsGone) {
  open_channel();
  hang_up();
  EXPECT_TRUE(wait_for([&] { return ended_ > 0; }));
  EXPECT_EQ(ended_, 1);
}

TEST_F(WordChannelTest, TakesNonsenseForTheLaunchersEnd) {
  open_channel();
  say_bytes(std::string(64, 'x'));
  EXPECT_TRUE(wait_for([&] { return ended_ > 0; }));
}

TEST_F(WordChannelTest, SendsWordsInTheirOrder) {
  open_channel();
  channel_->send({"progress"});
  channel_->send({"running"});
  EXPECT_THAT(read_words(), ElementsAre("progress", "running"));
}

TEST_F(WordChannelTest, LeavesOutWhatALauncherThatDoesNotReadNeedNotHear) {
  open_channel();
  channel_->send({"progress", std::string(std::size_t{1} << 20, 'x')});
  channel_->send_if_heard({"status"});
  channel_->send({"running"});
  EXPECT_TRUE(wait_for([&] { return read_words().size() == 2; }));
  EXPECT_THAT(read_words(), ElementsAre("progress", "running"));
}

TEST_F(WordChannelTest, SaysItsLastWordAndNoneAfterIt) {
  open_channel();
  channel_->close({"detached"});
  channel_->send({"status"});
  EXPECT_THAT(read_words(), ElementsAre("detached"));
}

TEST_F(WordChannelTest, LeavesToOthersNothingOfTheStandardStreams) {
  with_standard_streams([&] {
    channel_.emplace(loop_, WordChannel::Events{[](const OwnerWord&) {}, [] {}});
    EXPECT_EQ(::write(STDOUT_FILENO, "noise", 5), 5);
    char byte = 0;
    EXPECT_EQ(::read(STDIN_FILENO, &byte, 1), 0);
  });
  EXPECT_THAT(read_words(), testing::IsEmpty());
}

TEST_F(WordChannelTest, TheFirstWordIsReadAndWhatFollowsIsLeftToTheChannel) {
  say({"order"});
  say({"detach"});
  with_standard_streams([&] {
    const Result<OwnerWord> first = read_first_word();
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(first->kind, "order");
  });
  open_channel();
  EXPECT_TRUE(wait_for([&] { return !heard_.empty(); }));
  EXPECT_THAT(heard_, ElementsAre("detach"));
}

TEST_F(WordChannelTest, WithoutAFirstWordNobodySaysWhatToDo) {
  hang_up();
  with_standard_streams(
      [&] { EXPECT_EQ(read_first_word().error().message, "nobody says what to do"); });
}

TEST_F(WordChannelTest, AFirstWordThatIsNoneIsNoOrder) {
  say_bytes(std::string(64, 'x'));
  with_standard_streams([&] { EXPECT_EQ(read_first_word().error().code, Errc::malformed); });
}

}  // namespace
}  // namespace sterna::launcher
