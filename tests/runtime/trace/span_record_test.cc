// What was written is read again, whole blocks of it; what is damaged says so, and nothing crashes.
#include "runtime/trace/span_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A block of one process, with one span.
std::string one_block(const std::string& name, std::uint64_t incarnation, std::uint64_t step) {
  std::string records;
  append_record(records, {.kind = SpanKind::process, .begin = 7, .step = 5, .value = incarnation},
                name + "\nhost-a");
  append_record(records, {.kind = SpanKind::name, .name = 1}, "forward");
  append_record(records, {.kind = SpanKind::track, .track = 0}, "rank 0");
  append_record(records,
                {.kind = SpanKind::span, .name = 1, .begin = 100, .end = 150, .step = step});
  return block_of(records);
}

std::vector<ProcessSpans> read_all(const std::string& bytes) {
  std::vector<ProcessSpans> lives;
  EXPECT_TRUE(read_spans(bytes, lives).ok());
  return lives;
}

TEST(SpanRecord, IsReadAsItWasWritten) {
  const auto lives = read_all(one_block("worker0", 1, 12));
  ASSERT_EQ(lives.size(), 1U);
  EXPECT_EQ(lives[0].name, "worker0");
  EXPECT_EQ(lives[0].host, "host-a");
  EXPECT_EQ(lives[0].process, 5U);
  EXPECT_EQ(lives[0].run, 7U);
  EXPECT_THAT(lives[0].tracks, ElementsAre("rank 0"));
  ASSERT_EQ(lives[0].records.size(), 1U);
  const SpanRecord& span = lives[0].records[0];
  EXPECT_EQ(lives[0].names[span.name], "forward");
  EXPECT_EQ(span.begin, 100);
  EXPECT_EQ(span.end, 150);
  EXPECT_EQ(span.step, 12U);
}

TEST(SpanRecord, BlocksOfOneLifeGoTogetherAndAnotherIncarnationIsAnotherLife) {
  const auto lives = read_all(one_block("a", 1, 1) + one_block("a", 1, 2) + one_block("a", 2, 2));
  ASSERT_EQ(lives.size(), 2U);
  EXPECT_EQ(lives[0].records.size(), 2U);
  EXPECT_EQ(lives[1].records.size(), 1U);
}

TEST(SpanRecord, AFileCutAnywhereHasTheBlocksBeforeTheCut) {
  const std::string first = one_block("a", 1, 1);
  const std::string both = first + one_block("a", 1, 2);
  for (std::size_t size = 0; size < both.size(); ++size) {
    std::vector<ProcessSpans> lives;
    ASSERT_TRUE(read_spans(both.substr(0, size), lives).ok()) << size;
    ASSERT_EQ(lives.size(), size < first.size() ? 0U : 1U) << size;
    if (!lives.empty()) {
      EXPECT_EQ(lives[0].records.size(), 1U) << size;
    }
  }
}

TEST(SpanRecord, TimesThatNoClockShowsAreMalformed) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const SpanRecord& record :
       {SpanRecord{.kind = SpanKind::span, .begin = kLeast, .end = 0},
        SpanRecord{.kind = SpanKind::wait, .begin = 0, .end = kMost},
        SpanRecord{.kind = SpanKind::sent, .begin = kMost},
        SpanRecord{.kind = SpanKind::counter, .begin = kLeast},
        SpanRecord{.kind = SpanKind::round_trip, .begin = kLeast},
        SpanRecord{.kind = SpanKind::round_trip, .end = kMost},
        SpanRecord{.kind = SpanKind::round_trip, .step = std::uint64_t{1} << 62U},
        SpanRecord{.kind = SpanKind::round_trip, .value = std::uint64_t{1} << 62U}}) {
    std::string records;
    append_record(records, {.kind = SpanKind::process}, "a\nhost-a");
    append_record(records, {.kind = SpanKind::name}, "forward");
    append_record(records, {.kind = SpanKind::track}, "rank 0");
    append_record(records, record);
    std::vector<ProcessSpans> lives;
    const Result<void> read = read_spans(block_of(records), lives);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, Errc::malformed);
  }
}

TEST(SpanRecord, ADamagedFileIsMalformedOrReadButNeverTrusted) {
  const std::string whole = one_block("a", 1, 1);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      std::vector<ProcessSpans> lives;
      const Result<void> read = read_spans(damaged, lives);
      if (!read) {
        ++refused;
        EXPECT_EQ(read.error().code, Errc::malformed);
      }
      for (const ProcessSpans& life : lives) {
        for (const SpanRecord& record : life.records) {
          EXPECT_LT(record.name, life.names.size());
          EXPECT_LT(record.track, life.tracks.size());
        }
      }
    }
  }
  EXPECT_GT(refused, 20U);
  std::vector<ProcessSpans> lives;
  const Result<void> other = read_spans("this is no trace at all", lives);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("no trace of this version"));
}

}  // namespace
}  // namespace sterna
