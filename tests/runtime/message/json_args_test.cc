#include "runtime/message/json_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/message/packed_message.h"
#include "tests/runtime/message/json_args_test.capnp.h"

namespace sterna {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct PainterArgs {
  using Wire = schema::test::PainterArgs;
  std::string name = "nobody";
  std::uint32_t count = 3;
  std::int64_t seed = 0;
  double ratio = 0.5;
  schema::test::Color color = schema::test::Color::RED;
  std::int32_t x = 0;
  std::string label;
  std::vector<std::string> names;
  std::vector<std::int32_t> path;
  std::vector<std::vector<std::uint8_t>> table;

  void encode(Wire::Builder wire, WireWriter&) const {
    wire.setName(name.c_str());
    wire.setCount(count);
    wire.setColor(color);
    wire.initOrigin().setX(x);
    wire.getOrigin().setLabel(label.c_str());
  }
  static Result<PainterArgs> decode(Wire::Reader wire, WireReader&) {
    PainterArgs args;
    args.name = wire.getName().cStr();
    args.count = wire.getCount();
    args.seed = wire.getSeed();
    args.ratio = wire.getRatio();
    args.color = wire.getColor();
    args.x = wire.getOrigin().getX();
    args.label = wire.getOrigin().getLabel().cStr();
    for (const auto text : wire.getNames()) args.names.emplace_back(text.cStr());
    for (const auto point : wire.getPath()) args.path.push_back(point.getX());
    for (const auto row : wire.getTable()) {
      args.table.emplace_back();
      for (const std::uint8_t cell : row) args.table.back().push_back(cell);
    }
    return args;
  }
};

class JsonArgs : public testing::Test {
 protected:
  static Result<Bytes> packed(std::string_view json) {
    return pack_json(capnp::Schema::from<schema::test::PainterArgs>(), json);
  }
  PainterArgs args(std::string_view json) {
    const Result<Bytes> packed = JsonArgs::packed(json);
    EXPECT_TRUE(packed) << packed.error().message;
    if (!packed) return {};
    Result<PainterArgs> args = unpack<PainterArgs>(packed->view());
    EXPECT_TRUE(args) << args.error().message;
    return args ? *args : PainterArgs{};
  }
  std::string problem(std::string_view json) {
    const Result<Bytes> packed = JsonArgs::packed(json);
    EXPECT_FALSE(packed) << json;
    if (packed) return "";
    EXPECT_EQ(packed.error().code, Errc::invalid_argument);
    return packed.error().message;
  }
};

TEST_F(JsonArgs, PacksWhatTheJsonSays) {
  const PainterArgs said = args(
      R"({"name": "Ada", "count": 7, "color": "green", "origin": {"x": -2, "label": "\u00e9\n"}})");
  EXPECT_EQ(said.name, "Ada");
  EXPECT_EQ(said.count, 7U);
  EXPECT_EQ(said.color, schema::test::Color::GREEN);
  EXPECT_EQ(said.x, -2);
  EXPECT_EQ(said.label, "é\n");
}

TEST_F(JsonArgs, KeysLeftOutHaveTheSchemasDefaults) {
  const PainterArgs defaults = args("{}");
  EXPECT_EQ(defaults.name, "nobody");
  EXPECT_EQ(defaults.count, 3U);
  EXPECT_EQ(defaults.ratio, 0.5);
  EXPECT_TRUE(defaults.names.empty());
}

TEST_F(JsonArgs, ListsHoldTextsStructsAndLists) {
  const PainterArgs lists =
      args(R"({"names": ["a", "b"], "path": [{"x": 1}, {}], "table": [[1, 2], []]})");
  EXPECT_THAT(lists.names, ElementsAre("a", "b"));
  EXPECT_THAT(lists.path, ElementsAre(1, 0));
  EXPECT_THAT(lists.table, ElementsAre(ElementsAre(1, 2), ElementsAre()));
}

TEST_F(JsonArgs, AnUnknownKeyIsNamedBesideTheKnownOnes) {
  EXPECT_THAT(problem(R"({"colour": "green"})"),
              AllOf(HasSubstr("no 'colour'"), HasSubstr("name, count, seed")));
  EXPECT_THAT(problem(R"({"path": [{}, {"z": 1}]})"),
              AllOf(HasSubstr("'path[1].z'"), HasSubstr("x, label")));
}

TEST_F(JsonArgs, AValueOfAnotherTypeIsNamedWithTheTypeItShouldHave) {
  EXPECT_THAT(problem(R"({"name": 7})"), HasSubstr("'name' must be a value of type Text"));
  EXPECT_THAT(problem(R"({"count": "many"})"), HasSubstr("'count' must be a value of type UInt32"));
  EXPECT_THAT(problem(R"({"count": true})"), HasSubstr("'count' must be"));
  EXPECT_THAT(problem(R"({"count": null})"), HasSubstr("'count' must be"));
  EXPECT_THAT(problem(R"({"wet": 1})"), HasSubstr("'wet' must be a value of type Bool"));
  EXPECT_THAT(problem(R"({"ratio": []})"), HasSubstr("'ratio' must be a value of type Float64"));
  EXPECT_THAT(problem(R"({"color": "blue"})"), HasSubstr("'color' must be one of red, green"));
  EXPECT_THAT(problem(R"({"origin": 1})"), HasSubstr("'origin' must be an object"));
  EXPECT_THAT(problem(R"({"names": "a"})"),
              HasSubstr("'names' must be a value of type List(Text)"));
  EXPECT_THAT(problem(R"({"names": ["a", 1]})"), HasSubstr("'names[1]' must be"));
  EXPECT_THAT(problem(R"({"table": [[1], 2]})"),
              HasSubstr("'table[1]' must be a value of type List(UInt8)"));
  EXPECT_THAT(problem(R"([1])"), HasSubstr("must be an object"));
}

TEST_F(JsonArgs, ANumberThatItsTypeCannotHoldIsRefused) {
  EXPECT_THAT(problem(R"({"level": 128})"), HasSubstr("'level' must be a value of type Int8"));
  EXPECT_THAT(problem(R"({"count": -1})"), HasSubstr("'count'"));
  EXPECT_THAT(problem(R"({"count": 1.5})"), HasSubstr("'count'"));
  EXPECT_THAT(problem(R"({"count": 4294967296})"), HasSubstr("'count'"));
}

TEST_F(JsonArgs, IntegersAreExact) {
  EXPECT_EQ(args(R"({"seed": 9223372036854775807})").seed, 9223372036854775807);
  EXPECT_EQ(args(R"({"seed": -9007199254740993})").seed, -9007199254740993);
}

TEST_F(JsonArgs, WhatIsNoJsonIsRefused) {
  for (const char* json : {"", "{", "{\"name\": }", "{} {}", "{\"name\": \"\\ud800", "nonsense"}) {
    EXPECT_THAT(problem(json), HasSubstr("no JSON")) << json;
  }
  EXPECT_THAT(problem(std::string(100000, '[')), HasSubstr("no JSON"));
}

TEST(TypeName, IsAsSchemasWriteIt) {
  std::string all;
  for (const auto field : capnp::Schema::from<schema::test::PainterArgs>().getFields()) {
    all += type_name(field.getType()) + " ";
  }
  EXPECT_EQ(
      all,
      "Text UInt32 Int64 Int8 Float64 Bool Color Point List(Text) List(Point) List(List(UInt8)) ");
}

}  // namespace
}  // namespace sterna
