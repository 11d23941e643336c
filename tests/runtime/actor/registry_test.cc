// The registry: actors made by the name of their type, from arguments that are packed or JSON.
#include "runtime/actor/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/actor/registry_test.capnp.h"

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
    if (args.count > 1000) return Error{Errc::malformed, "count is above 1000"};
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

struct Painter : Interface<> {};
class PainterActor final : public Actor<Painter> {
 public:
  explicit PainterActor(PainterArgs args) : args(std::move(args)) {}
  PainterArgs args;
};

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { registry_.add<PainterActor, PainterArgs>("painter"); }

  PainterArgs args(std::string_view json) {
    const Result<Bytes> packed = registry_.args_from_json("painter", json);
    EXPECT_TRUE(packed) << packed.error().message;
    if (!packed) return {};
    Result<PainterArgs> args = unpack<PainterArgs>(packed->view());
    EXPECT_TRUE(args) << args.error().message;
    return args ? *args : PainterArgs{};
  }
  std::string problem(std::string_view json) {
    const Result<Bytes> packed = registry_.args_from_json("painter", json);
    EXPECT_FALSE(packed) << json;
    if (packed) return "";
    EXPECT_EQ(packed.error().code, Errc::invalid_argument);
    EXPECT_THAT(packed.error().message, HasSubstr("the arguments of a 'painter': "));
    return packed.error().message;
  }

  Registry registry_;
};

TEST_F(RegistryTest, MakesAnActorFromPackedArguments) {
  PainterArgs ada;
  ada.name = "Ada";
  const auto made = registry_.make("painter", pack(ada).view());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(static_cast<PainterActor&>(*made->actor).args.name, "Ada");
}

TEST_F(RegistryTest, AnUnknownTypeIsAnsweredWithTheKnownOnes) {
  const Result<Bytes> packed = registry_.args_from_json("printer", "{}");
  EXPECT_EQ(packed.error().code, Errc::not_found);
  EXPECT_THAT(packed.error().message, AllOf(HasSubstr("'printer'"), HasSubstr("painter")));
}

TEST_F(RegistryTest, PacksWhatTheJsonSays) {
  const PainterArgs said = args(
      R"({"name": "Ada", "count": 7, "color": "green", "origin": {"x": -2, "label": "\u00e9\n"}})");
  EXPECT_EQ(said.name, "Ada");
  EXPECT_EQ(said.count, 7U);
  EXPECT_EQ(said.color, schema::test::Color::GREEN);
  EXPECT_EQ(said.x, -2);
  EXPECT_EQ(said.label, "é\n");
}

TEST_F(RegistryTest, KeysLeftOutHaveTheSchemasDefaults) {
  const PainterArgs defaults = args("{}");
  EXPECT_EQ(defaults.name, "nobody");
  EXPECT_EQ(defaults.count, 3U);
  EXPECT_EQ(defaults.ratio, 0.5);
  EXPECT_TRUE(defaults.names.empty());
}

TEST_F(RegistryTest, ListsHoldTextsStructsAndLists) {
  const PainterArgs lists =
      args(R"({"names": ["a", "b"], "path": [{"x": 1}, {}], "table": [[1, 2], []]})");
  EXPECT_THAT(lists.names, ElementsAre("a", "b"));
  EXPECT_THAT(lists.path, ElementsAre(1, 0));
  EXPECT_THAT(lists.table, ElementsAre(ElementsAre(1, 2), ElementsAre()));
}

TEST_F(RegistryTest, AnUnknownKeyIsNamedBesideTheKnownOnes) {
  EXPECT_THAT(problem(R"({"colour": "green"})"),
              AllOf(HasSubstr("no 'colour'"), HasSubstr("name, count, seed")));
  EXPECT_THAT(problem(R"({"path": [{}, {"z": 1}]})"),
              AllOf(HasSubstr("'path[1].z'"), HasSubstr("x, label")));
}

TEST_F(RegistryTest, AValueOfAnotherTypeIsNamedWithTheTypeItShouldHave) {
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

TEST_F(RegistryTest, ANumberThatItsTypeCannotHoldIsRefused) {
  EXPECT_THAT(problem(R"({"level": 128})"), HasSubstr("'level' must be a value of type Int8"));
  EXPECT_THAT(problem(R"({"count": -1})"), HasSubstr("'count'"));
  EXPECT_THAT(problem(R"({"count": 1.5})"), HasSubstr("'count'"));
  EXPECT_THAT(problem(R"({"count": 4294967296})"), HasSubstr("'count'"));
}

TEST_F(RegistryTest, IntegersAreExact) {
  EXPECT_EQ(args(R"({"seed": 9223372036854775807})").seed, 9223372036854775807);
  EXPECT_EQ(args(R"({"seed": -9007199254740993})").seed, -9007199254740993);
}

TEST_F(RegistryTest, WhatTheActorWouldRefuseIsRefused) {
  EXPECT_THAT(problem(R"({"count": 1001})"), HasSubstr("count is above 1000"));
}

TEST_F(RegistryTest, WhatIsNoJsonIsRefused) {
  for (const char* json : {"", "{", "{\"name\": }", "{} {}", "{\"name\": \"\\ud800", "nonsense"}) {
    EXPECT_THAT(problem(json), HasSubstr("no JSON")) << json;
  }
  EXPECT_THAT(problem(std::string(100000, '[')), HasSubstr("no JSON"));
}

}  // namespace
}  // namespace sterna
