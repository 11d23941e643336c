// A progress line on a terminal of its own: the slave of a pseudo terminal in place of standard
// error.
#include "launcher/text/progress_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "tests/launcher/test_clock.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

class ProgressLineTest : public testing::Test {
 protected:
  ProgressLineTest() : own_errors_(::dup(STDERR_FILENO)), terminal_(::posix_openpt(O_RDWR)) {
    ::grantpt(terminal_);
    ::unlockpt(terminal_);
    const int slave = ::open(::ptsname(terminal_), O_RDWR | O_NOCTTY);
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
    ::dup2(slave, STDERR_FILENO);
    ::close(slave);
  }
  ~ProgressLineTest() override {
    give_back_standard_error();
    ::close(own_errors_);
    ::close(terminal_);
  }
  void give_back_standard_error() const { ::dup2(own_errors_, STDERR_FILENO); }

  /// On the terminal since the last call.
  std::string shown() const {
    std::array<char, 256> bytes;
    const ssize_t got = ::read(terminal_, bytes.data(), bytes.size());
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
  }

  TestClock clock_;

 private:
  int own_errors_;
  int terminal_;
};

TEST_F(ProgressLineTest, ShowsEachTextInPlaceOfTheLast) {
  ProgressLine line(clock_);
  line.show("one");
  EXPECT_EQ(shown(), "\rone\x1b[K");
  clock_.time = clock_.time + 100ms;
  line.show("two");
  EXPECT_EQ(shown(), "\rtwo\x1b[K");
}

TEST_F(ProgressLineTest, ShowsAtMostTenTextsASecond) {
  ProgressLine line(clock_);
  line.show("one");
  shown();
  clock_.time = clock_.time + 99ms;
  line.show("two");
  EXPECT_EQ(shown(), "");
}

TEST_F(ProgressLineTest, IsErasedAtItsEnd) {
  { ProgressLine(clock_).show("one"); }
  EXPECT_EQ(shown(), "\rone\x1b[K\r\x1b[K");
}

TEST_F(ProgressLineTest, ErasesNothingWhereNothingWasShown) {
  { const ProgressLine line(clock_); }
  EXPECT_EQ(shown(), "");
}

TEST_F(ProgressLineTest, IsNothingWhereThatIsNoTerminal) {
  give_back_standard_error();
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, STDERR_FILENO);
  ::close(null);
  testing::internal::CaptureStderr();
  { ProgressLine(clock_).show("one"); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace sterna::launcher
