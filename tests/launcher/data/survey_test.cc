#include "launcher/data/survey.h"

#include <gtest/gtest.h>

#include "input/pictures/encode.h"

namespace sterna::launcher {
namespace {

/// A JPEG of 20 x 30, the same cut short, and an example that cannot be read.
class Three final : public input::Source {
 public:
  Three() {
    input::Picture noise{{20, 30, 3}, std::vector<std::uint8_t>(1800)};
    std::uint32_t pixel = 0;
    for (std::uint8_t& byte : noise.pixels) byte = static_cast<std::uint8_t>(pixel++ * 40503 >> 8);
    jpeg_ = input::encode_jpeg(noise, 90).value();
  }
  const input::SourceFacts& facts() const override { return facts_; }
  Result<input::StoredExample> read(std::uint64_t index) const override {
    if (index == 2) return Error{Errc::malformed, "a.tfrecord: a wrong sum"};
    const std::span bytes(jpeg_);
    return input::StoredExample{
        .picture = {input::Coding::jpeg, bytes.first(bytes.size() - (index == 1 ? 40 : 0)), {}},
        .label = 1};
  }

 private:
  std::vector<std::uint8_t> jpeg_;
  input::SourceFacts facts_{.count = 3, .shape = {0, 0, 3}, .classes = 2, .family = "vgg"};
};

TEST(Survey, CountsDamagedExamplesAndNamesThem) {
  const Survey found = survey(Three(), {});
  EXPECT_EQ(found.examples, 3U);
  EXPECT_EQ(found.per_class, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(found.damaged, 1U);
  EXPECT_EQ(found.damages, std::vector<std::string>{"example 2: a.tfrecord: a wrong sum"});
  EXPECT_EQ(found.rows.least, 20U);
  EXPECT_EQ(found.columns.most, 30U);
}

TEST(Survey, ThatDecodesFindsPicturesThatAreCutShort) {
  const Survey found = survey(Three(), {.decode = true});
  EXPECT_EQ(found.damaged, 2U);
  EXPECT_EQ(found.per_class, (std::vector<std::uint64_t>{0, 1}));
}

}  // namespace
}  // namespace sterna::launcher
