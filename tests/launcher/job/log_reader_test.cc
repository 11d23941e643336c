// What a program's actors log, read from a node that is an actor here, on a virtual clock.
#include "launcher/job/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;
struct Keeping : Interface<ReadFile> {};
class LogKeeper final : public Actor<Keeping> {
 public:
  explicit LogKeeper(const Files& files) : files_(files) {}
  Result<FilePiece> on(ReadFile question) {
    const auto file = files_.find(question.name);
    if (file == files_.end()) return Error{Errc::not_found, question.name};
    const std::string& text = file->second;
    const std::size_t at = std::min<std::size_t>(question.offset, text.size());
    return FilePiece{text.size(), copy_bytes(text.substr(at, question.limit))};
  }

 private:
  const Files& files_;
};

class LogReaderTest : public test::SimFixture {
 protected:
  LogReaderTest() {
    Process& process = *start("launcher").process;
    const auto keeper = process.spawn<LogKeeper>(files_);
    reader_ = std::make_unique<LogReader>(
        loop, std::vector<LogReader::Log>{{"a", {2}}, {"b", {2}}},
        [&process, keeper](const ReadFile& question) { return process.ask(keeper, question, 1s); },
        [this](std::string_view line) { said_.emplace_back(line); });
  }
  void turn_for(Duration duration) {
    const Time end = loop.now() + duration;
    loop.run_until(
        [this] {
          reader_->turn();
          return false;
        },
        end);
  }
  Files files_;
  std::unique_ptr<LogReader> reader_;
  std::vector<std::string> said_;
};

TEST_F(LogReaderTest, SaysEachLineOnceWithItsActorAndWithoutTheTime) {
  files_["a.log"] = "2026-01-02T03:04:05.678Z one\nwritten to stderr\n\n";
  files_["b.log"] = "2026-01-02T03:04:05.679Z two\n";
  turn_for(3s);
  EXPECT_THAT(said_, ElementsAre("a: one", "a: written to stderr", "b: two"));
}

TEST_F(LogReaderTest, WaitsForTheEndOfALineAndForALogThatIsNotThereYet) {
  files_["a.log"] = "be";
  turn_for(3s);
  EXPECT_THAT(said_, IsEmpty());
  files_["a.log"] += "gun\n";
  files_["b.log"] = "born\n";
  turn_for(3s);
  EXPECT_THAT(said_, ElementsAre("a: begun", "b: born"));
}

TEST_F(LogReaderTest, LeavesOutLinesOfALogThatGrowsTooFast) {
  files_["a.log"] = "first\n" + std::string(1U << 20, 'x') + "\nlast\n";
  turn_for(3s);
  EXPECT_THAT(said_, ElementsAre("a: first", "a: ...", "a: last"));
}

TEST_F(LogReaderTest, SaysThatAnActorHasEndedAfterWhatItLogged) {
  turn_for(100ms);  // within the pause
  files_["a.log"] = "goodbye\n";
  reader_->say_at_end_of("a", "a has ended");
  turn_for(100ms);
  EXPECT_THAT(said_, ElementsAre("a: goodbye", "a has ended"));
}

TEST_F(LogReaderTest, AtTheEndEveryLogIsReadOnceMoreWithoutThePause) {
  turn_for(100ms);  // within the pause
  files_["b.log"] = "the end\n";
  const Time before = loop.now();
  loop.run_until([this] { return reader_->is_through(); }, kNever);
  EXPECT_THAT(said_, ElementsAre("b: the end"));
  EXPECT_LT(loop.now() - before, 50ms);
}

}  // namespace
}  // namespace sterna::launcher
