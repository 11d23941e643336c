#include "runtime/message/actor_ref.h"

#include <capnp/message.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/message/held_message.h"
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

struct OnlyAdd : Interface<Add> {};
struct AddAndSlow : Interface<Add, Slow> {};
struct SlowAndAdd : Interface<Slow, Add> {};

static_assert(Counter::kAccepts<Add>);
static_assert(!Counter::kAccepts<Total>);

TEST(Interface, IsKnownByItsMessagesInTheirOrder) {
  EXPECT_NE(OnlyAdd::type_id(), AddAndSlow::type_id());
  EXPECT_NE(AddAndSlow::type_id(), SlowAndAdd::type_id());
  EXPECT_EQ(AddAndSlow::type_id(), (Interface<Add, Slow>::type_id()));
}

TEST(ActorRef, TravelsAndIsRefusedAsThatOfAnotherInterface) {
  capnp::MallocMessageBuilder builder;
  auto wire = builder.initRoot<schema::ActorAddress>();
  WireWriter writer(builder.getOrphanage());
  HeldMessage none(std::vector<Bytes>{});
  WireReader reader(none);
  const ActorRef<OnlyAdd> sent{{{3}, {4}}};
  sent.encode(wire, writer);
  const Result<ActorRef<OnlyAdd>> same = ActorRef<OnlyAdd>::decode(wire.asReader(), reader);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, sent);
  EXPECT_EQ(ActorRef<AddAndSlow>::decode(wire.asReader(), reader).error().code, Errc::malformed);
}

TEST(AnyRef, BecomesTypedAgainAsWhatItWas) {
  const AnyRef any = ActorRef<OnlyAdd>{{{3}, {4}}};
  EXPECT_EQ(any.as<OnlyAdd>()->id, (ActorId{{3}, {4}}));
  EXPECT_EQ(any.as<AddAndSlow>().error().code, Errc::invalid_argument);
  EXPECT_FALSE(AnyRef().as<OnlyAdd>().ok());
}

}  // namespace
}  // namespace sterna::test
