// The lifeline is this process's own standard input: each test lends it a pipe.
#include "runtime/host/lifeline.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "tests/runtime/host/borrowed_descriptor.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;

class Lifelines : public testing::Test {
 protected:
  void start(const std::string& log_file = "") {
    line.emplace(loop, log_file, [this](const std::string& why) { losses.push_back(why); });
  }
  void say(std::string_view text) {
    ASSERT_EQ(::write(input.other(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, loop.now() + 10s); }
  /// Everything that has happened by now is heard.
  void settle() {
    bool posted = false;
    for (int i = 0; i < 3; ++i) {
      posted = false;
      loop.post([&] { posted = true; });
      until([&] { return posted; });
    }
  }

  BorrowedDescriptor input{STDIN_FILENO};
  UvLoop loop;
  std::vector<std::string> losses;
  std::optional<Lifeline> line;
};

TEST_F(Lifelines, ItsEndIsTheLaunchersAndIsToldOnce) {
  start();
  settle();
  EXPECT_TRUE(losses.empty());
  input.close_other();
  EXPECT_TRUE(until([this] { return !losses.empty(); }));
  settle();
  EXPECT_EQ(losses, std::vector<std::string>{"the connection to the launcher ended"});
}

TEST_F(Lifelines, OtherWordsMeanNothing) {
  start();
  say("hello");
  settle();
  EXPECT_TRUE(losses.empty());
}

TEST_F(Lifelines, WhoIsLetGoSaysSoAndLosesNobody) {
  BorrowedDescriptor output(STDOUT_FILENO);
  start();
  say("some noise");
  say(std::string(1, Lifeline::kDetach));
  const int said = output.other();
  std::string answer(Lifeline::kDetached.size(), '\0');
  until([] { return ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0; });  // no pipe any more
  EXPECT_EQ(::read(said, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
  EXPECT_EQ(answer, Lifeline::kDetached);
  input.close_other();
  settle();
  EXPECT_TRUE(losses.empty());
}

TEST_F(Lifelines, ItsWordsGoToTheLogFromThenOn) {
  TemporaryFolder folder;
  const std::string log = (folder / "node.log").string();
  BorrowedDescriptor errors(STDERR_FILENO);
  start(log);
  ASSERT_EQ(::write(STDERR_FILENO, "a word", 6), 6);
  errors.give_back();
  std::ifstream file(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "a word");
}

}  // namespace
}  // namespace sterna
