// What is in a file of events, read by code that shares none with its writer.
#include "launcher/summary/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "input/pictures/png.h"
#include "runtime/base/full_disk.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

/// Bit by bit: x^32 + ..., reflected, as RFC 3720 has it; masked as TFRecord stores it.
std::uint32_t masked_crc(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

template <class T>
T taken(const std::string& bytes, std::size_t at) {
  T value{};
  EXPECT_LE(at + sizeof value, bytes.size());
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The records whose CRCs fit, up to the first that is no whole one.
std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at + 16 <= file.size();) {
    const auto length = taken<std::uint64_t>(file, at);
    if (at + 16 + length > file.size()) break;
    EXPECT_EQ(taken<std::uint32_t>(file, at + 8), masked_crc(file.substr(at, 8)));
    const std::string data = file.substr(at + 12, length);
    EXPECT_EQ(taken<std::uint32_t>(file, at + 12 + length), masked_crc(data));
    all.push_back(data);
    at += 16 + length;
  }
  return all;
}

/// Protobuf's wire format: a field's number, and its value as it stands there (numbers by their
/// bits).
struct Field {
  std::uint64_t number = 0;
  std::uint64_t bits = 0;
  std::string bytes;
};
std::vector<Field> fields(const std::string& message) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; at < message.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  std::vector<Field> all;
  while (at < message.size()) {
    const std::uint64_t key = varint();
    Field field{.number = key >> 3, .bits = 0, .bytes = ""};
    switch (key & 7) {
      case 0:
        field.bits = varint();
        break;
      case 1:
        field.bits = taken<std::uint64_t>(message, at), at += 8;
        break;
      case 2: {
        const std::uint64_t size = varint();
        EXPECT_LE(size, message.size() - at);
        field.bytes = message.substr(at, size);
        at += field.bytes.size();
        break;
      }
      case 5:
        field.bits = taken<std::uint32_t>(message, at), at += 4;
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return all;
    }
    all.push_back(std::move(field));
  }
  return all;
}
Field field(const std::string& message, std::uint64_t number) {
  for (Field& one : fields(message)) {
    if (one.number == number) return one;
  }
  return {};
}

template <class To, class From>
To as(From bits) {
  To value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct SeenHistogram {
  std::vector<double> moments;  ///< least, most, elements, sum, sum of squares
  std::vector<double> limits;
  std::vector<double> counts;
};
std::vector<double> doubles(const std::string& packed) {
  std::vector<double> all;
  for (std::size_t at = 0; at + sizeof(double) <= packed.size(); at += sizeof(double)) {
    all.push_back(taken<double>(packed, at));
  }
  return all;
}
SeenHistogram seen_histogram(const std::string& message) {
  SeenHistogram one;
  for (std::uint64_t number = 1; number <= 5; ++number) {
    one.moments.push_back(as<double>(field(message, number).bits));
  }
  one.limits = doubles(field(message, 6).bytes);
  one.counts = doubles(field(message, 7).bytes);
  return one;
}

struct Seen {
  std::map<std::string, SeenHistogram> histograms;
  std::map<std::string, std::string> images;
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
  std::map<std::string, std::string> texts;
  bool starts = false;
};
Seen seen(const std::string& record) {
  Seen event;
  for (const Field& one : fields(record)) {
    if (one.number == 1) event.wall_time = as<double>(one.bits);
    if (one.number == 2) event.step = static_cast<std::int64_t>(one.bits);
    if (one.number == 3) event.version = one.bytes;
    if (one.number == 7) event.starts = field(one.bytes, 1).bits == 1;
    if (one.number != 5) continue;
    for (const Field& value : fields(one.bytes)) {
      const std::string tag = field(value.bytes, 1).bytes;
      const std::string tensor = field(value.bytes, 8).bytes;
      const std::vector<Field> parts = fields(value.bytes);
      const auto histogram = std::ranges::find(parts, 5U, &Field::number);
      const auto image = std::ranges::find(parts, 4U, &Field::number);
      if (histogram != parts.end()) {
        event.histograms[tag] = seen_histogram(histogram->bytes);
      } else if (image != parts.end()) {
        event.images[tag] = image->bytes;
      } else if (tensor.empty()) {
        event.scalars[tag] = as<float>(static_cast<std::uint32_t>(field(value.bytes, 2).bits));
      } else {
        EXPECT_EQ(field(tensor, 1).bits, 7U) << "a string";
        EXPECT_EQ(field(field(field(value.bytes, 9).bytes, 1).bytes, 1).bytes, "text");
        event.texts[tag] = field(tensor, 8).bytes;
      }
    }
  }
  return event;
}
std::vector<Seen> events(const std::string& path) {
  std::vector<Seen> all;
  for (const std::string& record : records(file_bytes(path))) all.push_back(seen(record));
  return all;
}

constexpr const char* kHeader = R"({"format":1,"kind":"run","run":"here","time":1700000000.5})";

class EventFileTest : public testing::Test {
 protected:
  /// What the lines come to; the first is the version.
  std::vector<Seen> events_of(const std::vector<std::string>& lines) {
    EventFile file = EventFile::create(folder.path(), 5, "").value();
    for (const std::string& line : lines) EXPECT_TRUE(file.append(line).ok());
    EXPECT_TRUE(file.close().ok());
    return events(file.path());
  }
  std::string run_with(const std::string& metrics) {
    const std::string run = folder.path() + "/run";
    std::filesystem::create_directory(run);
    std::ofstream(run + "/metrics.jsonl", std::ios::binary) << metrics;
    return run;
  }
  TemporaryFolder folder;
};

TEST_F(EventFileTest, BeginsWithItsVersionAndTheRunsFile) {
  EventFile file = EventFile::create(folder.path(), 1700000000, "format = 1").value();
  EXPECT_THAT(file.path(), HasSubstr("/events.out.tfevents.1700000000."));
  ASSERT_TRUE(file.append(R"({"kind":"step","step":1,"learning_rate":0.5})").ok());
  const std::vector<Seen> all = events(file.path());
  ASSERT_THAT(all, SizeIs(3)) << "not closed, and all there";
  EXPECT_EQ(all[0].version, "brain.Event:2");
  EXPECT_THAT(all[1].texts, ElementsAre(Pair("resolved.toml", "```toml\nformat = 1\n```")));
  EXPECT_THAT(all[2].scalars, ElementsAre(Pair("learning_rate", 0.5F)));
}

TEST_F(EventFileTest, AStepIsThereAtItsTimeAndWhatIsNotKnownIsNot) {
  const auto all = events_of(
      {R"({"kind":"loss","step":3,"loss":2.5,"decay_loss":0.5})",
       R"({"kind":"step","step":3,"seconds":1.5,"learning_rate":0.25,"bytes_up":7,"nonzero":null,
           "readers":[{"reader":"reader0","pictures_per_second":64}]})"});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].step, 3);
  EXPECT_THAT(all[1].scalars, ElementsAre(Pair("avg_reg_loss", 0.5F), Pair("avg_total_loss", 2.5F),
                                          Pair("loss", 2.0F)));
  EXPECT_EQ(all[2].wall_time, 6.5);
  EXPECT_EQ(all[2].step, 3);
  EXPECT_THAT(all[2].scalars, ElementsAre(Pair("bytes_up", 7.0F), Pair("learning_rate", 0.25F),
                                          Pair("pictures_per_second/reader0", 64.0F)));
}

TEST_F(EventFileTest, EvaluationsHaveTheOriginalsNames) {
  const auto all = events_of(
      {R"({"kind":"evaluation","step":9,"seconds":1,"precision_at_1":0.5,"recall_at_5":null,"loss":2})",
       R"({"kind":"evaluation","step":9,"seconds":1,"precision_at_1":0.5,"recall_at_5":1,"loss":2,
           "subset":"train","of":"averages"})"});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[1].scalars,
              ElementsAre(Pair("Accuracy @ 1", 0.5F), Pair("evaluated_loss", 2.0F)));
  EXPECT_THAT(all[2].scalars, ElementsAre(Pair("Accuracy @ 1/train averages", 0.5F),
                                          Pair("Accuracy @ 5/train averages", 1.0F),
                                          Pair("evaluated_loss/train averages", 2.0F)));
}

TEST_F(EventFileTest, ATensorIsThereAtTheLastStep) {
  const auto all = events_of(
      {R"({"kind":"loss","step":40,"rank":2,"loss":2.5,"decay_loss":0.5})",
       R"({"kind":"tensor","tensor":"conv1/weights","codec":"ternary","elements":500,"nonzero":0.25})"});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[1].scalars, Contains(Pair("loss/rank2", 2.0F)));
  EXPECT_EQ(all[2].step, 40);
  EXPECT_THAT(all[2].scalars, ElementsAre(Pair("conv1/weights/binary/sparsity", 0.75F)));
}

TEST_F(EventFileTest, AHistogramHasABucketForEachThatIsNotEmptyBetweenLimits) {
  // 1 is in bucket 1016 (0x3F8 << 20), 0.875 and more below it; -2 in -1024.
  const auto all = events_of(
      {R"({"kind":"histogram","step":7,"tensor":"w","of":"sent","elements":12,"least":-2.125,)"
       R"("most":1.0625,"sum":1.5,"sum_of_squares":9,"buckets":[-1024,0,1015,1016],)"
       R"("counts":[1,5,2,4]})",
       R"({"kind":"histogram","step":7,"tensor":"w","of":"weights","elements":0,"least":0,)"
       R"("most":0,"sum":0,"sum_of_squares":0,"buckets":[],"counts":[]})",
       R"({"kind":"histogram","step":7,"tensor":"w","of":"gradients","buckets":[1],"counts":[]})"});
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[1].step, 7);
  const SeenHistogram& one = all[1].histograms.at("w/binary/gradients");
  EXPECT_THAT(one.moments, ElementsAre(-2.125, 1.0625, 12, 1.5, 9));
  const double tiny = std::ldexp(1.0, -129);
  EXPECT_THAT(one.limits, ElementsAre(-2.25, -2, -tiny, tiny, 0.9375, 1, 1.125));
  EXPECT_THAT(one.counts, ElementsAre(0, 1, 0, 5, 0, 2, 4));
  EXPECT_THAT(all[2].histograms.at("w").limits, IsEmpty());
  EXPECT_THAT(all[3].histograms.at("w/gradients").counts, IsEmpty());
}

TEST_F(EventFileTest, APictureIsThereWithWhatItIsAndWhatItWasTakenFor) {
  const auto all = events_of(
      {R"({"kind":"picture","step":4,"number":1,"rows":1,"columns":2,"channels":3,"label":7,)"
       R"("prediction":3,"pixels":"ff0000000102"})",
       R"({"kind":"picture","step":4,"rows":1,"columns":2,"channels":3,"pixels":"ff00"})",
       R"({"kind":"picture","step":4,"rows":1,"columns":1,"channels":1,"pixels":"x0"})"});
  ASSERT_THAT(all, SizeIs(2)) << "none of what is no picture";
  EXPECT_EQ(all[1].step, 4);
  const std::string image = all[1].images.at("images/1");
  EXPECT_EQ(field(image, 1).bits, 1U);
  EXPECT_EQ(field(image, 2).bits, 2U);
  EXPECT_EQ(field(image, 3).bits, 3U);
  const std::string png = field(image, 4).bytes;
  const auto shown = input::decode_png(
      std::span(reinterpret_cast<const std::uint8_t*>(png.data()), png.size()), {});
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_THAT(shown->pixels, ElementsAre(255, 0, 0, 0, 1, 2));
  EXPECT_EQ(all[1].texts.at("images/1/prediction"), "class 7, taken for 3");
}

TEST_F(EventFileTest, ARestartBeginsAgainBehindItsCheckpoint) {
  const auto all = events_of({kHeader, R"({"kind":"step","step":30,"seconds":4,"nonzero":0.5})",
                              R"({"kind":"restart","step":20,"cause":"lost","time":1700000009})",
                              R"({"kind":"step","step":21,"seconds":1,"nonzero":0.5})"});
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[1].wall_time, 1700000004.5);
  EXPECT_TRUE(all[2].starts);
  EXPECT_EQ(all[2].step, 21) << "of that and later steps nothing above counts";
  EXPECT_EQ(all[3].wall_time, 1700000010);
}

TEST_F(EventFileTest, LinesThatAreNoneAreNoEvents) {
  const auto all = events_of({"", "[1]", "{\"kind\":", R"({"kind":7,"step":"x"})",
                              R"({"kind":"step","step":-1e300,"readers":[1,{"reader":5}]})",
                              R"({"kind":"lost","lines":5})"});
  EXPECT_THAT(all, SizeIs(1));
}

TEST_F(EventFileTest, OfTheSameSecondEachHasItsOwn) {
  const EventFile one = EventFile::create(folder.path(), 5, "").value();
  const EventFile other = EventFile::create(folder.path(), 5, "").value();
  EXPECT_EQ(other.path(), one.path() + ".2");
}

TEST_F(EventFileTest, ADiskThatWasFullForAWhileLeavesWholeRecords) {
  EventFile file = EventFile::create(folder.path(), 5, "").value();
  const std::string step = R"({"kind":"step","step":1,"learning_rate":0.5})";
  ASSERT_TRUE(file.append(step).ok());
  {
    const FullDisk full(file_bytes(file.path()).size() + 5);
    EXPECT_FALSE(file.append(step).ok());
  }
  ASSERT_TRUE(file.append(step).ok());
  EXPECT_TRUE(file.close().ok());
  EXPECT_THAT(events(file.path()), SizeIs(3)) << "the version and two steps";
}

TEST_F(EventFileTest, ARestartThatTheDiskHasNotTakenStandsBeforeWhatItTakesNext) {
  EventFile file = EventFile::create(folder.path(), 5, "format = 1").value();
  const std::string step = R"({"kind":"step","step":21,"learning_rate":0.5})";
  {
    const FullDisk full(5);
    EXPECT_FALSE(file.append(step).ok()) << "nor what the file begins with";
    EXPECT_FALSE(file.append(R"({"kind":"restart","step":20,"cause":"lost","time":9})").ok());
    EXPECT_FALSE(file.append(step).ok());
  }
  ASSERT_TRUE(file.append(R"({"kind":"lost","lines":3})").ok());
  ASSERT_TRUE(file.append(step).ok());
  const std::vector<Seen> all = events(file.path());
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0].version, "brain.Event:2");
  EXPECT_THAT(all[1].texts, SizeIs(1));
  EXPECT_TRUE(all[2].starts);
  EXPECT_EQ(all[2].step, 21);
  EXPECT_EQ(all[3].step, 21);
}

TEST_F(EventFileTest, ADiskThatWasFullTakesEventsBehindAWordOfThoseThatAreLost) {
  EventFile file = EventFile::create(folder.path(), 5, "").value();
  const std::string step = R"({"kind":"step","step":1,"learning_rate":0.5})";
  ASSERT_TRUE(file.append(step).ok());
  {
    const FullDisk full(file_bytes(file.path()).size());
    EXPECT_FALSE(file.append(step).ok());
    EXPECT_FALSE(file.append("{}").ok()) << "it says nothing of the disk";
  }
  ASSERT_TRUE(file.append(R"({"kind":"lost","lines":1})").ok());
  ASSERT_TRUE(file.append(step).ok());
  EXPECT_THAT(events(file.path()), SizeIs(3));
}

TEST_F(EventFileTest, ATimeThatNobodyLivesInIsTheNearest) {
  EXPECT_THAT(EventFile::create(folder.path(), 1e300, "").value().path(),
              HasSubstr("/events.out.tfevents.9999999999."));
  EXPECT_THAT(EventFile::create(folder.path(), -1e300, "").value().path(),
              HasSubstr("/events.out.tfevents.0000000000."));
}

TEST_F(EventFileTest, AFolderThatIsNotThereIsSaid) {
  const auto none = EventFile::create(folder.path() + "/none", 5, "");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("/none/events.out.tfevents.0000000005"));
}

TEST_F(EventFileTest, ExportsARunWhoseLastLineIsCutAnywhere) {
  const std::string last = R"({"kind":"step","step":2,"seconds":1,"nonzero":0.5})";
  const std::string whole =
      std::string(kHeader) + "\n" + R"({"kind":"step","step":1,"seconds":1,"nonzero":0.5})" + "\n";
  for (std::size_t cut = 0; cut <= last.size(); ++cut) {
    const std::string run = run_with(whole + last.substr(0, cut));
    const auto path = export_events(run, run);
    ASSERT_TRUE(path.ok()) << cut << path.error().message;
    EXPECT_THAT(events(*path), SizeIs(cut == last.size() ? 3 : 2)) << cut;
    std::filesystem::remove(*path);
  }
}

TEST_F(EventFileTest, ThatItsDiskIsFullIsNothingOfTheMetrics) {
  const std::string run = run_with(std::string(kHeader) + "\n");
  const FullDisk full(0);
  const auto refused = export_events(run, folder.path() + "/other");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("/other/events.out.tfevents."));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("metrics.jsonl")));
}

TEST_F(EventFileTest, ExportSaysWhatItCannotDo) {
  const std::string run = run_with(std::string(kHeader) + "\n");
  ASSERT_TRUE(export_events(run, run).ok());
  const auto twice = export_events(run, run);
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("has events already"));
  EXPECT_TRUE(export_events(run, folder.path() + "/other").ok());

  const auto expect = [&](const std::string& metrics, const std::string& words) {
    const auto refused = export_events(run_with(metrics), folder.path() + "/empty");
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr(words));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/empty")) << "nothing is left";
  };
  expect("", "has no line");
  expect("{\"format\":2,\"kind\":\"run\"}\n", "is of format 2");
  expect(std::string(kHeader) + "\nrubbish\n{}\n", "metrics.jsonl:2: is no line");
  expect(std::string(kHeader) + "\nrubbish\n{}\n", "take it out");
  const auto none = export_events(folder.path() + "/none", folder.path());
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("/none/metrics.jsonl"));
}

}  // namespace
}  // namespace sterna::launcher
