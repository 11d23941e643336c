#include "launcher/cluster_file/listen_address.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "tests/launcher/cluster_file/cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

TEST(ListenAddress, IsAnAddressAndAPort) {
  const auto four = ListenAddress::parse("127.0.0.1:9100");
  ASSERT_TRUE(four.ok());
  const auto& address = reinterpret_cast<const sockaddr_in&>(four->address);
  EXPECT_EQ(address.sin_family, AF_INET);
  EXPECT_EQ(ntohs(address.sin_port), 9100);
  EXPECT_EQ(ntohl(address.sin_addr.s_addr), INADDR_LOOPBACK);
  const auto six = ListenAddress::parse("[::1]:0");
  ASSERT_TRUE(six.ok());
  EXPECT_EQ(six->address.ss_family, AF_INET6);
}

TEST(ListenAddress, WhatIsNoneIsQuoted) {
  for (const char* text : {"", "9100", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                           "127.0.0.1:-1", "localhost:80", "::1:80", "[::1]", "127.0.0.1:80 "}) {
    const auto parsed = ListenAddress::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().message, testing::EndsWith("not \"" + std::string(text) + "\""));
  }
}

class ListenAddressInAFile : public ClusterFileTest {};

TEST_F(ListenAddressInAFile, IsCheckedWithTheFile) {
  EXPECT_TRUE(read(std::string(smallest) + "[metrics]\nprometheus = \"127.0.0.1:9100\"\n").ok());
  EXPECT_EQ(error_of_more("[metrics]\nprometheus = \"9100\"\n"),
            "x.toml:14: \"metrics.prometheus\" must be an address and a port, e.g. "
            "\"127.0.0.1:9100\" or \"[::1]:9100\", not \"9100\"");
}

}  // namespace
}  // namespace sterna::launcher
