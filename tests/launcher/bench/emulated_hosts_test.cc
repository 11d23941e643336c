#include "launcher/bench/exchange/emulated_hosts.h"

#include <gtest/gtest.h>

#include <set>

namespace sterna::launcher {
namespace {

TEST(LinkRates, AreReadAsTcWritesThem) {
  EXPECT_EQ(parse_link_rate("1gbit").value(), 1'000'000'000U);
  EXPECT_EQ(parse_link_rate("2.5gbit").value(), 2'500'000'000U);
  EXPECT_EQ(parse_link_rate("100mbit").value(), 100'000'000U);
  for (const char* wrong : {"", "1", "gbit", "0gbit", "-1gbit", "1gbyte", "nan", "1e9gbit"}) {
    EXPECT_FALSE(parse_link_rate(wrong)) << wrong;
  }
}

TEST(EmulatedHosts, HaveNamesAndAddressesOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> addresses = {EmulatedHosts::own_address()};
  constexpr std::size_t kHosts = 16;
  for (std::size_t host = 0; host < kHosts; ++host) {
    names.insert(EmulatedHosts::name(host));
    addresses.insert(EmulatedHosts::address(host));
  }
  EXPECT_EQ(names.size(), kHosts);
  EXPECT_EQ(addresses.size(), kHosts + 1);
}

}  // namespace
}  // namespace sterna::launcher
