// A progress line on a terminal of its own in place of standard error.
#include "launcher/text/progress_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/launcher/pseudo_terminal.h"
#include "tests/launcher/test_clock.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

class ProgressLineTest : public testing::Test {
 protected:
  ProgressLineTest() : own_errors_(::dup(STDERR_FILENO)) { use(terminal_.descriptor()); }
  ~ProgressLineTest() override {
    use(own_errors_);
    ::close(own_errors_);
  }
  /// As standard error.
  static void use(int descriptor) { ::dup2(descriptor, STDERR_FILENO); }

  PseudoTerminal terminal_;
  TestClock clock_;

 private:
  int own_errors_;
};

TEST_F(ProgressLineTest, ShowsEachTextInPlaceOfTheLast) {
  ProgressLine line(clock_);
  line.show("one");
  EXPECT_EQ(terminal_.shown(), "\rone\x1b[K");
  clock_.time = clock_.time + 100ms;
  line.show("two");
  EXPECT_EQ(terminal_.shown(), "\rtwo\x1b[K");
}

TEST_F(ProgressLineTest, ShowsAtMostTenTextsASecond) {
  ProgressLine line(clock_);
  line.show("one");
  terminal_.shown();
  clock_.time = clock_.time + 99ms;
  line.show("two");
  EXPECT_EQ(terminal_.shown(), "");
}

TEST_F(ProgressLineTest, IsErasedAtItsEnd) {
  { ProgressLine(clock_).show("one"); }
  EXPECT_EQ(terminal_.shown(), "\rone\x1b[K\r\x1b[K");
}

TEST_F(ProgressLineTest, ErasesNothingWhereNothingWasShown) {
  { const ProgressLine line(clock_); }
  EXPECT_EQ(terminal_.shown(), "");
}

TEST_F(ProgressLineTest, IsNothingWhereThatIsNoTerminal) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK | O_CLOEXEC), 0);
  use(pipe[1]);
  { ProgressLine(clock_).show("one"); }
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), -1) << "something was written";
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace sterna::launcher
