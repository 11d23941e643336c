#include "launcher/page/page_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

const PageKeys kKeys = {.token = "t0", .session = "s0", .cookie_name = "sterna-1"};

PageRequest request(std::string_view host, std::string_view origin = "") {
  return {.host = host, .origin = origin, .token = "", .session = "s0"};
}

TEST(PageAccess, TheTokenIsTradedForACookieAndTheCookieIsEnough) {
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "t0", ""}, kKeys), PageAccess::traded);
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "", "s0"}, kKeys), PageAccess::granted);
  EXPECT_THAT(
      cookie_header(kKeys),
      testing::AllOf(testing::StartsWith("sterna-1=s0;"), testing::HasSubstr("HttpOnly"),
                     testing::HasSubstr("Max-Age=86400;"), testing::HasSubstr("SameSite=Strict")));
}

TEST(PageAccess, NothingAndTheWrongThingAreRefused) {
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "", ""}, kKeys), PageAccess::refused);
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "t1", ""}, kKeys), PageAccess::refused);
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "", "t0"}, kKeys), PageAccess::refused);
  EXPECT_EQ(access_of({"127.0.0.1:80", "", "t1", "s0"}, kKeys), PageAccess::refused);
}

TEST(PageAccess, OnlyThisMachinesNamesAreTaken) {
  for (const char* host : {"127.0.0.1:8080", "127.0.0.1", "localhost:1", "[::1]:80", "[::1]"}) {
    EXPECT_EQ(access_of(request(host), kKeys), PageAccess::granted) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:80", "127.0.0.1.evil.example:80",
                           "127.0.0.2:80", "localhost:80x", "localhost:", "10.0.0.1:80", ":80"}) {
    EXPECT_EQ(access_of(request(host), kKeys), PageAccess::refused) << host;
  }
}

TEST(PageAccess, APageOfAnotherOriginIsRefusedWithTheCookieToo) {
  EXPECT_EQ(access_of(request("127.0.0.1:80", "http://127.0.0.1:80"), kKeys), PageAccess::granted);
  for (const char* origin : {"http://evil.example", "http://127.0.0.1:81", "https://127.0.0.1:80",
                             "null", "http://localhost:80"}) {
    EXPECT_EQ(access_of(request("127.0.0.1:80", origin), kKeys), PageAccess::refused) << origin;
  }
}

TEST(PageAccess, SecretsAreLongAndDrawnEachTime) {
  const PageKeys one = PageKeys::draw();
  const PageKeys other = PageKeys::draw();
  EXPECT_EQ(one.token.size(), 64U);
  EXPECT_NE(one.token, one.session);
  EXPECT_NE(one.token, other.token);
  EXPECT_NE(one.cookie_name, other.cookie_name);
}

}  // namespace
}  // namespace sterna::launcher
