#include "launcher/scrape/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/launcher/http/http_client.h"
#include "tests/launcher/view/view_fixture.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = MetricsServer::start({.prometheus = "127.0.0.1:0"});
    ASSERT_TRUE(started.ok()) << started.error().message;
    server = std::move(started).value();
    server->update(status_in_training());
  }
  unsigned port() const {
    const std::string& url = server->url();
    return static_cast<unsigned>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  std::string ask(const std::string& first_line, const std::string& headers = "") const {
    test::HttpClient client(port());
    client.ask(first_line, "Host: a\r\nConnection: close\r\n" + headers);
    return client.hear();
  }

  std::unique_ptr<MetricsServer> server;
};

TEST_F(MetricsServerTest, AnswersWithWhatTheRunIsNow) {
  EXPECT_THAT(ask("GET /metrics"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
                    HasSubstr("\nsterna_step 1250\n")));
  RunStatus later = status_in_training();
  later.step = 1300;
  server->update(later);
  EXPECT_THAT(ask("GET /metrics"), HasSubstr("\nsterna_step 1300\n"));
}

TEST_F(MetricsServerTest, WhoAsksForOpenMetricsGetsThat) {
  EXPECT_THAT(ask("GET /metrics",
                  "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"),
              AllOf(HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0"),
                    HasSubstr("# EOF\n")));
}

TEST_F(MetricsServerTest, RefusesWhatItDoesNotHave) {
  EXPECT_THAT(ask("GET /"), AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("/metrics")));
  EXPECT_THAT(ask("DELETE /metrics"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("nonsense"), Not(HasSubstr("sterna_step")));
}

TEST_F(MetricsServerTest, WhoReadsNothingHoldsNobodyUp) {
  std::vector<test::HttpClient> idle;
  for (int i = 0; i < 30; ++i) {
    idle.emplace_back(port());
    idle.back().say("GET /metrics HT");
  }
  EXPECT_THAT(ask("GET /metrics"), HasSubstr("\nsterna_step 1250\n"));
}

TEST_F(MetricsServerTest, APortInUseAndAForeignAddressAreSaid) {
  const std::string taken = "127.0.0.1:" + std::to_string(port());
  const auto again = MetricsServer::start({.prometheus = taken});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message,
            "cannot listen on " + taken +
                " for metrics.prometheus: Address already in use; give it another address and port "
                "of this machine, or leave it out");
  EXPECT_FALSE(MetricsServer::start({.prometheus = "192.0.2.1:9100"}).ok());
}

}  // namespace
}  // namespace sterna::launcher
