#include "input/build/box_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sterna::input {
namespace {

using testing::HasSubstr;

constexpr const char* kAnnotation = R"(<?xml version="1.0"?>
<!-- as ImageNet has them -->
<annotation verified="no">
  <folder>n02085620</folder>
  <filename>n02085620_1</filename>
  <source><database>ImageNet</database></source>
  <size>
    <width>200</width>
    <height>100</height>
    <depth>3</depth>
  </size>
  <segmented/>
  <object>
    <name> Chihuahua </name>
    <pose>Unspecified</pose>
    <bndbox><xmin>50</xmin><ymin>25</ymin><xmax>100</xmax><ymax>75</ymax></bndbox>
  </object>
  <object>
    <name>n02085620</name>
    <part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>
    <bndbox><ymax>-5</ymax><xmax>150</xmax><xmin>250</xmin><ymin>50</ymin></bndbox>
  </object>
  <object><name>flat</name>
    <bndbox><xmin>7</xmin><ymin>1</ymin><xmax>7</xmax><ymax>2</ymax></bndbox></object>
</annotation>
)";

std::string refusal(const std::string& xml) {
  const auto boxes = parse_boxes(xml);
  if (boxes) return "nothing is wrong";
  EXPECT_EQ(boxes.error().code, Errc::malformed);
  return boxes.error().message;
}

TEST(BoxFile, HasItsBoxesInPartsOfThePicture) {
  const auto boxes = parse_boxes(kAnnotation);
  ASSERT_TRUE(boxes.ok()) << boxes.error().message;
  ASSERT_EQ(boxes->size(), 2U);
  EXPECT_EQ((*boxes)[0],
            (NamedBox{"Chihuahua", {.top = 0.25F, .left = 0.25F, .bottom = 0.75F, .right = 0.5F}}));
  // Clamped, and turned round.
  EXPECT_EQ((*boxes)[1],
            (NamedBox{"n02085620", {.top = 0, .left = 0.75F, .bottom = 0.5F, .right = 1}}));
  EXPECT_TRUE(parse_boxes("<annotation/>")->empty());
}

TEST(BoxFile, ThatIsNoneIsRefused) {
  EXPECT_EQ(refusal(""), "it has no <annotation>");
  EXPECT_EQ(refusal("xmin,ymin"), "it has no <annotation>");
  EXPECT_EQ(refusal("<annotation></size>"), "</size> ends nothing");
  const std::string object = "<object><bndbox><xmin>1</xmin></bndbox></object></annotation>";
  EXPECT_EQ(refusal("<annotation>" + object), "it does not say the size of the picture");
  const std::string size = "<annotation><size><width>5</width><height>5</height></size>";
  EXPECT_EQ(refusal(size + object), "an object has no <bndbox> of four edges");
  for (const char* number : {"", "nan", "inf", "5px", "1e999"}) {
    EXPECT_THAT(refusal("<annotation><size><width>" + std::string(number) + "</width>"),
                HasSubstr("and must be a number"))
        << number;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  EXPECT_THAT(refusal(deep), HasSubstr("too deep"));
}

TEST(BoxFile, DamagedAnywhereEndsInBoxesOrAnError) {
  const std::string whole = kAnnotation;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'<', '>', '/', '\0', '9', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = c;
      const auto boxes = parse_boxes(damaged);
      for (std::size_t b = 0; boxes && b < boxes->size(); ++b) {
        const Box& box = (*boxes)[b].box;
        EXPECT_TRUE(0 <= box.top && box.top < box.bottom && box.bottom <= 1);
        EXPECT_TRUE(0 <= box.left && box.left < box.right && box.right <= 1);
      }
    }
    const std::string end = whole.substr(0, whole.rfind("</annotation>"));
    if (i < end.size()) {
      EXPECT_FALSE(parse_boxes(whole.substr(0, i)).ok()) << i;
    }
  }
}

}  // namespace
}  // namespace sterna::input
