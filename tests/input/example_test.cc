#include "input/records/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sterna::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes8 = std::vector<std::uint8_t>;

const std::string kJpeg = "\xff\xd8\xff\xe0 a JPEG";
const std::string kPng = "\x89PNG\r\n\x1a\n a PNG";

// A tf.Example as protocol buffers encode it, by hand.
std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string field(int number, const std::string& content) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}
std::string texts(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += field(1, value);
  return field(1, list);
}
std::string floats(const std::vector<float>& values) {
  std::string packed;
  for (const float value : values) {
    for (const auto byte : std::bit_cast<std::array<char, sizeof value>>(value)) packed += byte;
  }
  return field(2, field(1, packed));
}
std::string integers(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return field(3, field(1, packed));
}
using Features = std::vector<std::pair<std::string, std::string>>;
std::string example(const Features& features) {
  std::string all;
  for (const auto& [key, feature] : features) all += field(1, field(1, key) + field(2, feature));
  return field(1, all);
}

Result<PictureRecord> parsed(const std::string& data) {
  return parse_picture_record({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()});
}
Result<PictureRecord> parsed(const Features& features) { return parsed(example(features)); }

/// The error's message, one line.
std::string refused(const Features& features) {
  const Result<PictureRecord> record = parsed(features);
  if (record.ok()) return "not refused";
  EXPECT_EQ(record.error().code, Errc::malformed);
  EXPECT_EQ(record.error().message.find('\n'), std::string::npos);
  return record.error().message;
}

/// A RAW picture of 2 x 3 pixels, with these features instead of or beside its own.
Features raw(const Features& others = {}) {
  Features all{{"image/encoded", texts({std::string(18, 'x')})},
               {"image/format", texts({"RAW"})},
               {"image/height", integers({2})},
               {"image/width", integers({3})}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

TEST(Example, OfTheOriginalsHasAllThatTheyWrite) {
  const Result<PictureRecord> record = parsed({{"image/encoded", texts({kJpeg})},
                                               {"image/format", texts({"JPEG"})},
                                               {"image/height", integers({333})},
                                               {"image/width", integers({500})},
                                               {"image/channels", integers({3})},
                                               {"image/colorspace", texts({"RGB"})},
                                               {"image/class/label", integers({4})},
                                               {"image/class/text", texts({"tulips"})},
                                               {"image/class/synset", texts({"n01440764"})},
                                               {"image/filename", texts({"a.jpg"})},
                                               {"image/object/bbox/ymin", floats({0, 0.25})},
                                               {"image/object/bbox/xmin", floats({0.5, 0})},
                                               {"image/object/bbox/ymax", floats({1, 0.75})},
                                               {"image/object/bbox/xmax", floats({1, 0.125})},
                                               {"image/object/bbox/label", integers({4, 4})}});
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(record->coding, Coding::jpeg);
  EXPECT_EQ(record->bytes, kJpeg);
  EXPECT_EQ(record->shape, (PictureShape{333, 500, 3}));
  EXPECT_EQ(record->label, 4);
  EXPECT_EQ(record->class_text, "tulips");
  EXPECT_EQ(record->synset, "n01440764");
  EXPECT_EQ(record->name, "a.jpg");
  EXPECT_THAT(record->boxes, ElementsAre(Box{0, 0.5, 1, 1}, Box{0.25, 0, 0.75, 0.125}));
  EXPECT_EQ(record->picture().bytes.data(),
            reinterpret_cast<const std::uint8_t*>(record->bytes.data()));
}

TEST(Example, OfAPlainFileHasImageLabelAndId) {
  const Result<PictureRecord> record =
      parsed({{"image", texts({kPng})}, {"label", integers({9})}, {"id", texts({"train_16399"})}});
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(record->coding, Coding::png);
  EXPECT_EQ(record->bytes, kPng);
  EXPECT_EQ(record->label, 9);
  EXPECT_EQ(record->name, "train_16399");
  EXPECT_EQ(parsed({{"image", texts({kPng})}, {"id", integers({-7})}})->name, "-7");
}

TEST(Example, MayLackAllButThePicture) {
  const std::string empty_boxes = field(2, "");
  for (const Features& others : {Features{}, Features{{"image/class/label", ""},
                                                      {"image/class/text", texts({})},
                                                      {"image/format", texts({""})},
                                                      {"image/object/bbox/ymin", empty_boxes},
                                                      {"image/object/bbox/xmin", floats({})}}}) {
    Features all{{"image/encoded", texts({kJpeg})}};
    all.insert(all.end(), others.begin(), others.end());
    const Result<PictureRecord> record = parsed(all);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ(record->coding, Coding::jpeg);
    EXPECT_EQ(record->label, std::nullopt);
    EXPECT_EQ(record->class_text, "");
    EXPECT_EQ(record->name, "");
    EXPECT_TRUE(record->boxes.empty());
  }
  EXPECT_EQ(refused({}), "it has no picture: neither image/encoded nor image");
  EXPECT_EQ(refused({{"image/encoded", texts({""})}}),
            "it has no picture: neither image/encoded nor image");
  EXPECT_FALSE(parsed("").ok());
}

TEST(Example, HasTheFormatThatItSaysOrThatThePictureShows) {
  const auto coding = [](const std::string& bytes, const std::string& format) {
    return parsed({{"image/encoded", texts({bytes})}, {"image/format", texts({format})}});
  };
  EXPECT_EQ(coding(kPng, "png")->coding, Coding::png);
  EXPECT_EQ(coding(kJpeg, "jpeg")->coding, Coding::jpeg);
  EXPECT_EQ(coding("something", "PNG")->coding, Coding::png);
  EXPECT_EQ(coding("something", "JPEG")->coding, Coding::jpeg);
  // One file of ImageNet is a PNG under a JPEG's name.
  EXPECT_EQ(coding(kPng, "JPEG")->coding, Coding::png);
  EXPECT_THAT(coding(kPng, "GIF").error().message,
              HasSubstr("image/format is \"GIF\", and must be JPEG, PNG or RAW"));
  EXPECT_THAT(coding(kPng, "\n" + std::string(1000, 'x')).error().message,
              HasSubstr("image/format is \"\\nxxxxxxxxxxxxxxxxxxx\","));
  EXPECT_THAT(refused({{"image", texts({"something"})}}),
              HasSubstr("its picture is neither JPEG nor PNG"));
}

TEST(Example, OfARawPictureHasAsManyBytesAsPixels) {
  const Result<PictureRecord> colour = parsed(raw());
  ASSERT_TRUE(colour.ok()) << colour.error().message;
  EXPECT_EQ(colour->coding, Coding::pixels);
  EXPECT_EQ(colour->shape, (PictureShape{2, 3, 3}));
  const Result<PictureRecord> grey =
      parsed(raw({{"image/width", integers({9})}, {"image/channels", integers({1})}}));
  ASSERT_TRUE(grey.ok()) << grey.error().message;
  EXPECT_EQ(grey->shape, (PictureShape{2, 9, 1}));
  EXPECT_EQ(refused(raw({{"image/width", integers({4})}})),
            "its RAW picture has 18 bytes, which are not 2 x 4 pixels of 3 channels (image/height, "
            "image/width, image/channels: 1 or 3)");
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 30}) {
    EXPECT_THAT(refused(raw({{"image/height", integers({extent})}})), HasSubstr("its RAW picture"));
  }
  EXPECT_THAT(refused(raw({{"image/channels", integers({2})}, {"image/height", integers({3})}})),
              HasSubstr("its RAW picture"));
  EXPECT_EQ(refused(raw({{"image/height", integers({-1})}})), "image/height is -1");
  EXPECT_EQ(refused(raw({{"image/width", integers({std::int64_t{1} << 40})}})),
            "image/width is 1099511627776");
}

TEST(Example, WithAFeatureOfAnotherKindIsRefused) {
  EXPECT_EQ(refused({{"image/encoded", integers({1})}}),
            "the feature image/encoded holds integers, and must hold bytes");
  EXPECT_EQ(refused(raw({{"image/class/label", texts({"3"})}})),
            "the feature image/class/label holds bytes, and must hold integers");
  EXPECT_EQ(refused(raw({{"image/object/bbox/ymin", integers({0})}})),
            "the feature image/object/bbox/ymin holds integers, and must hold floats");
}

TEST(Example, WithSeveralValuesWhereOneBelongsIsRefused) {
  EXPECT_EQ(refused(raw({{"image/class/label", integers({1, 2})}})),
            "the feature image/class/label has 2 values, and must have one");
  EXPECT_EQ(refused({{"image", texts({kPng, kPng})}}),
            "the feature image has 2 values, and must have one");
}

TEST(Example, WithBoxesThatAreNoneIsRefused) {
  const auto with_box = [](float top, float left, float bottom, float right) {
    return raw({{"image/object/bbox/ymin", floats({top})},
                {"image/object/bbox/xmin", floats({left})},
                {"image/object/bbox/ymax", floats({bottom})},
                {"image/object/bbox/xmax", floats({right})}});
  };
  EXPECT_TRUE(parsed(with_box(0, 0, 1, 1)).ok());
  EXPECT_EQ(refused(with_box(0, 0.5, 1, 0.25)),
            "box 0 is [0, 1) x [0.5, 0.25), and must be a part of 0 to 1");
  EXPECT_THAT(refused(with_box(-0.1F, 0, 1, 1)), HasSubstr("box 0 is"));
  EXPECT_THAT(refused(with_box(0, 0, 1.5, 1)), HasSubstr("box 0 is"));
  EXPECT_THAT(refused(with_box(NAN, 0, 1, 1)), HasSubstr("box 0 is"));
  EXPECT_EQ(
      refused(raw({{"image/object/bbox/ymin", floats({0, 0})}})),
      "image/object/bbox has 2 ymin, 0 xmin, 0 ymax and 0 xmax, and must have as many of each");
}

TEST(Example, ThatIsWrittenIsReadBackAndTheSameBytesEachTime) {
  const PictureRecord record{.coding = Coding::pixels,
                             .bytes = std::string(12, '\x80'),
                             .shape = {2, 6, 1},
                             .label = -1,
                             .class_text = "daisy",
                             .synset = "n11939491",
                             .boxes = {{0.25, 0, 1, 0.5}, {}},
                             .name = "b.jpg"};
  const Bytes8 data = pack_picture_record(record);
  EXPECT_EQ(pack_picture_record(record), data);
  const Result<PictureRecord> back = parse_picture_record(data);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->coding, record.coding);
  EXPECT_EQ(back->bytes, record.bytes);
  EXPECT_EQ(back->shape, record.shape);
  EXPECT_EQ(back->label, record.label);
  EXPECT_EQ(back->class_text, record.class_text);
  EXPECT_EQ(back->synset, record.synset);
  EXPECT_EQ(back->boxes, record.boxes);
  EXPECT_EQ(back->name, record.name);
}

TEST(Example, DamagedAnywhereEndsInARecordOrAnError) {
  const std::string whole = example(
      raw({{"image/class/label", integers({300})}, {"image/object/bbox/ymin", floats({0, 0.25})}}));
  const auto says_what = [](const Result<PictureRecord>& record) {
    return record.ok() || !record.error().message.empty();
  };
  std::mt19937 random(5);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(random());
    EXPECT_TRUE(says_what(parsed(damaged)));
    EXPECT_TRUE(says_what(parsed(whole.substr(0, i))));
  }
}

TEST(Example, OfMoreValuesThanMemoryShouldHoldIsRefusedUnparsed) {
  const auto million_times = [](std::string content) {
    for (int doubled = 0; doubled < 20; ++doubled) content += content;
    return content;
  };
  const std::string most = "hold more than 1048576 values";
  EXPECT_THAT(refused({{"image", field(1, million_times(field(1, "")))}}), HasSubstr(most));
  const std::string number(1, '\x01');
  EXPECT_THAT(refused({{"other", field(3, field(1, million_times(number)))}}), HasSubstr(most));
  const std::string feature = field(1, "");
  EXPECT_THAT(parsed(field(1, million_times(feature))).error().message, HasSubstr(most));
  // protobuf takes the lower half of this tag, which is that of a list of numbers.
  const std::string numbers = million_times(number);
  const std::string long_tag =
      varint(std::uint64_t{1} << 32 | 3U << 3 | 2) + varint(field(1, numbers).size());
  EXPECT_THAT(refused({{"other", long_tag + field(1, numbers)}}), HasSubstr(most));
  EXPECT_THAT(refused({{"other", field(0, "")}}), HasSubstr(most));
  // Floats take no more memory than they have bytes.
  EXPECT_EQ(refused({{"other", field(2, field(1, std::string(8 << 20, '\0')))}}),
            "it has no picture: neither image/encoded nor image");
}

}  // namespace
}  // namespace sterna::input
