// What stand-ins are asked and answer, over the wire: as it was, or refused.
#include "launcher/probe/probe_messages.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/message/packed_message.h"

namespace sterna::launcher {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

template <class M>
Result<M> over_the_wire(const M& message) {
  const Bytes packed = pack(message);
  return unpack<M>(packed.view());
}

TEST(ProbeMessages, SurviveTheWire) {
  const ProbeLink link{{"a", "b"}, 65536, 4096, milliseconds(250), seconds(30)};
  const Result<ProbeLink> asked = over_the_wire(link);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->peers, link.peers);
  EXPECT_EQ(asked->up_bytes, link.up_bytes);
  EXPECT_EQ(asked->down_bytes, link.down_bytes);
  EXPECT_EQ(asked->span, link.span);
  EXPECT_EQ(asked->patience, link.patience);
  const Result<LinkProbed> probed = over_the_wire(LinkProbed{milliseconds(2), 0.25});
  ASSERT_TRUE(probed.ok());
  EXPECT_EQ(probed->round_trip, milliseconds(2));
  EXPECT_EQ(probed->seconds, 0.25);
  const Result<ProbeCodecs> codecs = over_the_wire(ProbeCodecs{{}, {"none", "ternary"}});
  ASSERT_TRUE(codecs.ok());
  EXPECT_EQ(codecs->codecs, (std::vector<std::string>{"none", "ternary"}));
  const CodecsProbed costs{{{"none", 4, 4, 1e-9, 2e-9}, {"ternary", 0.25, 0.375, 1e-9, 3e-9}}};
  const Result<CodecsProbed> measured = over_the_wire(costs);
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->costs, costs.costs);
}

TEST(ProbeMessages, ThatWouldTakeTooMuchAreRefused) {
  const ProbeLink right{{"a"}, 65536, 65536, milliseconds(250), seconds(30)};
  const auto refused = [&](auto&& spoil) {
    ProbeLink link = right;
    spoil(link);
    return !over_the_wire(link).ok();
  };
  EXPECT_FALSE(refused([](ProbeLink&) {}));
  EXPECT_TRUE(refused([](ProbeLink& link) { link.peers.resize(1001, "a"); }));
  EXPECT_TRUE(refused([](ProbeLink& link) { link.up_bytes = 1U << 30; }));
  EXPECT_TRUE(refused([](ProbeLink& link) { link.down_bytes = 1U << 30; }));
  EXPECT_TRUE(refused([](ProbeLink& link) { link.span = hours(2); }));
  EXPECT_TRUE(refused([](ProbeLink& link) { link.patience = hours(2); }));
  EXPECT_FALSE(over_the_wire(ProbeCodecs{{}, std::vector<std::string>(100, "ternary")}).ok());
  EXPECT_FALSE(over_the_wire(Load{{}, 1U << 30}).ok());
}

TEST(ProbeMessages, ThatAreNoMeasurementsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(over_the_wire(LinkProbed{milliseconds(1), nan}).ok());
  EXPECT_FALSE(over_the_wire(LinkProbed{milliseconds(1), -1}).ok());
  for (const double wrong : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(over_the_wire(CodecsProbed{{{"none", 4, 4, wrong, 1e-9}}}).ok());
    EXPECT_FALSE(over_the_wire(CodecsProbed{{{"none", 4, 4, 1e-9, wrong}}}).ok());
  }
}

}  // namespace
}  // namespace sterna::launcher
