#include "runtime/cluster/connected_process.h"

#include <gtest/gtest.h>

#include "runtime/sim/sim_world.h"

namespace sterna::test {
namespace {

class ConnectedProcesses : public testing::Test {
 protected:
  static Bootstrap called(const std::string& name, std::uint64_t process) {
    Bootstrap b;
    b.process = {process};
    b.identity = {name, 1};
    b.credentials = {"key-" + name, "", "token-" + name};
    return b;
  }
  Result<std::unique_ptr<ConnectedProcess>> make(const Bootstrap& told) {
    return ConnectedProcess::make(world.launcher(), told, 7);
  }
  Registry registry;
  SimWorld world{1, registry};
};

TEST_F(ConnectedProcesses, SaysHowOthersReachIt) {
  const auto made = make(called("a", 20));
  ASSERT_TRUE(made.ok()) << made.error().message;
  const Contact& contact = (*made)->contact();
  EXPECT_EQ(contact.process, 20U);
  EXPECT_EQ(contact.control_endpoint, "memory://a#1");
  EXPECT_EQ(contact.public_key, "key-a");
  EXPECT_EQ(contact.token_hash, "hash of token-a");
}

TEST_F(ConnectedProcesses, WhoCannotListenIsNamed) {
  const auto first = make(called("a", 20));
  const auto second = make(called("a", 21));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "a cannot listen: memory://a#1 is in use");
}

TEST_F(ConnectedProcesses, LetsInWhomItWasToldOf) {
  Bootstrap told = called("a", 20);
  const auto b = make(called("b", 21));
  ASSERT_TRUE(b.ok());
  told.admit = {(*b)->contact()};
  const auto a = make(told);
  ASSERT_TRUE(a.ok());
  (*b)->links().dial((*a)->contact());
  EXPECT_TRUE(world.loop().run_until([&] { return (*a)->links().connected({21}); },
                                     world.loop().now() + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace sterna::test
