// The registry: actors made by the name of their type, from arguments that are packed or JSON.
#include "runtime/actor/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// How long a sleeper sleeps; the past is refused.
struct SleeperArgs {
  using Wire = wire::Slow;
  Duration sleep{};
  STERNA_INLINE_MESSAGE(SleeperArgs, FIELD(sleep, Nanoseconds))
};
class SleeperActor final : public Actor<Interface<>> {
 public:
  explicit SleeperActor(SleeperArgs told) : args(told) {}
  SleeperArgs args;
};

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { registry.add<SleeperActor, SleeperArgs>("sleeper"); }
  Registry registry;
};

TEST_F(RegistryTest, MakesAnActorFromPackedArguments) {
  const auto made = registry.make("sleeper", pack(SleeperArgs{Duration(7)}).view());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(static_cast<SleeperActor&>(*made->actor).args.sleep, Duration(7));
  EXPECT_EQ(made->type->interface_id, Interface<>::type_id());
}

TEST_F(RegistryTest, MakesAnActorFromWhatJsonSays) {
  const Result<Bytes> packed = registry.args_from_json("sleeper", R"({"nanoseconds": 7})");
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_TRUE(registry.make("sleeper", packed->view()).ok());
}

TEST_F(RegistryTest, AnUnknownTypeIsAnsweredWithTheKnownOnes) {
  EXPECT_TRUE(registry.knows("sleeper"));
  EXPECT_FALSE(registry.knows("sleepers"));
  const Result<Bytes> packed = registry.args_from_json("sleepers", "{}");
  EXPECT_EQ(packed.error().code, Errc::not_found);
  EXPECT_THAT(packed.error().message, AllOf(HasSubstr("'sleepers'"), HasSubstr("has: sleeper")));
}

TEST_F(RegistryTest, WhatTheActorWouldRefuseIsRefusedBeforeAnythingStarts) {
  const Result<Bytes> packed = registry.args_from_json("sleeper", R"({"nanoseconds": -7})");
  EXPECT_EQ(packed.error().code, Errc::invalid_argument);
  EXPECT_EQ(packed.error().message,
            "the arguments of a 'sleeper': SleeperArgs.nanoseconds: -7e-09 s, at least 0 s");
}

TEST_F(RegistryTest, ArgumentsOfAnotherTypeAreRefused) {
  const auto made = registry.make("sleeper", pack(Add{1}).view());
  EXPECT_EQ(made.error().code, Errc::malformed);
  EXPECT_THAT(made.error().message, HasSubstr("the arguments of a 'sleeper': "));
}

class FragileActor final : public Actor<Interface<>> {
 public:
  explicit FragileActor(SleeperArgs) { throw std::runtime_error("no luck"); }
};

TEST_F(RegistryTest, WhatAConstructorThrowsIsSaid) {
  registry.add<FragileActor, SleeperArgs>("fragile");
  const auto made = registry.make("fragile", pack(SleeperArgs{Duration(7)}).view());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "its constructor threw: no luck");
}

TEST_F(RegistryTest, ItsHashStandsForTheTypesAndTheirMessages) {
  Registry same;
  same.add<SleeperActor, SleeperArgs>("sleeper");
  EXPECT_EQ(same.schema_hash(), registry.schema_hash());
  EXPECT_THAT(registry.schemas(), ElementsAre(type_id_of<SleeperArgs>()));
  Registry renamed;
  renamed.add<SleeperActor, SleeperArgs>("dreamer");
  EXPECT_NE(renamed.schema_hash(), registry.schema_hash());
  same.add<SleeperActor, SleeperArgs>("dreamer");
  EXPECT_NE(same.schema_hash(), registry.schema_hash());
}

class HoldsBlobs final : public Actor<Interface<Blobs>> {
 public:
  explicit HoldsBlobs(SleeperArgs) {}
  void on(const Blobs&) {}
};

TEST_F(RegistryTest, ItsHashStandsForWhatMessagesHold) {
  Registry holding;
  holding.add<HoldsBlobs, SleeperArgs>("holds_blobs");
  EXPECT_THAT(holding.schemas(), UnorderedElementsAre(type_id_of<SleeperArgs>(),
                                                      type_id_of<Blobs>(), type_id_of<Blob>()));
}

class HoldsNoMore final : public Actor<Interface<Blobs, Blob>> {
 public:
  explicit HoldsNoMore(SleeperArgs) {}
  void on(const Blobs&) {}
  Blob on(Blob blob) { return blob; }
};

TEST_F(RegistryTest, ItsHashStandsForWhoTakesAMessageThatIsThereAlready) {
  Registry holding;
  holding.add<HoldsBlobs, SleeperArgs>("holds_blobs");
  Registry taking;
  taking.add<HoldsNoMore, SleeperArgs>("holds_blobs");
  EXPECT_EQ(taking.schemas(), holding.schemas());
  EXPECT_NE(taking.schema_hash(), holding.schema_hash());
}

TEST_F(RegistryTest, TwoTypesOfOneNameAreAComplaint) {
  EXPECT_EQ(registry.complaint(), "");
  registry.add<HoldsBlobs, SleeperArgs>("sleeper");
  EXPECT_EQ(registry.complaint(), "two actor types are called 'sleeper'");
}

struct Forgetful {
  using Wire = wire::Pair;
  std::string name;
  STERNA_INLINE_MESSAGE(Forgetful, FIELD(name, Name))
};
struct Twice {
  using Wire = wire::Pair;
  std::string name;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Twice, FIELD(name, Name), FIELD(amount, Amount), FIELD(amount, Amount))
};
class ForgetfulActor final : public Actor<Interface<Forgetful>> {
 public:
  explicit ForgetfulActor(SleeperArgs) {}
  void on(const Forgetful&) {}
};
class TwiceActor final : public Actor<Interface<Twice>> {
 public:
  explicit TwiceActor(SleeperArgs) {}
  void on(const Twice&) {}
};

TEST_F(RegistryTest, NamesTheFieldThatAMessagesListLacksOrHasTwice) {
  EXPECT_EQ(registry.complaint(), "");
  registry.add<ForgetfulActor, SleeperArgs>("forgetful");
  EXPECT_EQ(registry.complaint(),
            "message Forgetful: the schema's field 'amount' is not in its list");
  Registry other;
  other.add<TwiceActor, SleeperArgs>("twice");
  EXPECT_EQ(other.complaint(),
            "message Twice: the schema's field 'amount' is more than once in its list");
}

}  // namespace
}  // namespace sterna::test
