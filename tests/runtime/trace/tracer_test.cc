// A tracer that is off notes nothing; one that is on notes the steps that are wanted, from any
// thread, and each block says whose it is.
#include "runtime/trace/tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class Kept final : public TextSink {
 public:
  explicit Kept(std::string& blocks) : blocks_(blocks) {}
  void put(std::string text) override { blocks_ += text; }
  bool idle() const override { return true; }

 private:
  std::string& blocks_;
};

struct HandClock final : Clock {
  Time now() const override { return time; }
  Time time{1};
};

class TracerTest : public testing::Test {
 protected:
  void start(std::uint64_t first, std::uint64_t last) {
    tracer.start({"worker0", "here", 1, 5, 7}, {first, last}, std::make_unique<Kept>(blocks));
  }
  std::vector<ProcessSpans> read() {
    tracer.flush();
    std::vector<ProcessSpans> lives;
    EXPECT_TRUE(read_spans(blocks, lives).ok());
    return lives;
  }
  void pass(Duration time) { clock.time = clock.time + time; }

  std::string blocks;
  HandClock clock;
  Tracer tracer{clock};
};

TEST_F(TracerTest, NotesNothingBeforeItIsStarted) {
  EXPECT_FALSE(tracer.wants(0));
  EXPECT_FALSE(tracer.wants(std::numeric_limits<std::uint64_t>::max()));
  { const Span span = tracer.span(0, tracer.track("t"), tracer.name("n")); }
  tracer.note_sent(0, {}, {}, 1);
  tracer.note_round_trip({"there", 1, 2, 3, 4});
  tracer.flush();
  EXPECT_EQ(blocks, "");
}

TEST_F(TracerTest, NotesTheStepsThatAreWantedAndNoOthers) {
  start(10, 12);
  const TraceTrack track = tracer.track("rank 0");
  const TraceName name = tracer.name("forward");
  for (std::uint64_t step = 8; step < 15; ++step) {
    const Span span = tracer.span(step, track, name, step * 2);
    pass(Duration(50));
  }
  const auto lives = read();
  ASSERT_THAT(lives, SizeIs(1));
  ASSERT_THAT(lives[0].records, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const SpanRecord& record = lives[0].records[i];
    EXPECT_EQ(record.step, 10 + i);
    EXPECT_EQ(record.value, 2 * record.step);
    EXPECT_EQ(record.end - record.begin, 50);
  }
}

TEST_F(TracerTest, AllStepsAreAsManyAsThereCanBe) {
  start(0, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(tracer.wants(0));
  EXPECT_TRUE(tracer.wants(1'000'000'000'000));
}

TEST_F(TracerTest, EachBlockSaysWhoseItIsAndWhatItsNamesMean) {
  start(0, 100);
  const TraceTrack track = tracer.track("rank 0");
  const TraceName name = tracer.name("forward");
  for (int block = 0; block < 3; ++block) {
    { const Span span = tracer.span(1, track, name); }
    tracer.flush();
  }
  // The newest alone, as after the oldest were lost.
  const std::size_t last = blocks.rfind(kBlockMagic);
  std::vector<ProcessSpans> lives;
  ASSERT_TRUE(read_spans(std::string_view(blocks).substr(last), lives).ok());
  ASSERT_THAT(lives, SizeIs(1));
  EXPECT_EQ(lives[0].name, "worker0");
  ASSERT_THAT(lives[0].records, SizeIs(1));
  EXPECT_EQ(lives[0].names[lives[0].records[0].name], "forward");
}

TEST_F(TracerTest, ASpanMovesAndEndsOnce) {
  start(0, 100);
  Span outer;
  {
    Span inner = tracer.span(1, tracer.track("t"), tracer.name("n"));
    outer = std::move(inner);
    pass(Duration(10));
  }
  pass(Duration(10));
  outer.end();
  outer.end();
  const auto lives = read();
  ASSERT_THAT(lives, SizeIs(1));
  ASSERT_THAT(lives[0].records, SizeIs(1));
  EXPECT_EQ(lives[0].records[0].end - lives[0].records[0].begin, 20);
}

TEST_F(TracerTest, EveryThreadHasATrackOfItsOwn) {
  start(0, 100);
  const TraceTrack mine = tracer.thread_track("decoder");
  TraceTrack other;
  std::thread([&] { other = tracer.thread_track("decoder"); }).join();
  EXPECT_NE(mine.id, other.id);
  EXPECT_EQ(tracer.thread_track("decoder").id, mine.id);
  tracer.note_span(1, mine, tracer.name("n"), Time{1}, Time{2});
  tracer.note_span(1, other, tracer.name("n"), Time{1}, Time{2});
  EXPECT_THAT(read()[0].tracks, ElementsAre("decoder 0", "decoder 1"));
}

TEST_F(TracerTest, ManyThreadsNoteWithoutLosingAny) {
  start(0, 100);
  const TraceTrack track = tracer.track("t");
  const TraceName name = tracer.name("n");
  constexpr int kThreads = 4;
  constexpr int kSpans = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSpans; ++i) const Span span = tracer.span(3, track, name);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(read()[0].records, SizeIs(kThreads * kSpans));
}

}  // namespace
}  // namespace sterna
