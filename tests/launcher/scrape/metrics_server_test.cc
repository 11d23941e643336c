#include "launcher/scrape/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

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
  int port() const {
    const std::string& url = server->url();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }
  int connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  static void say(int socket, const std::string& text) {
    EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  static std::string hear(int socket) {
    std::string all;
    std::array<char, 4096> bytes{};
    for (ssize_t n = 0; (n = ::recv(socket, bytes.data(), bytes.size(), 0)) > 0;) {
      all.append(bytes.data(), static_cast<std::size_t>(n));
    }
    ::close(socket);
    return all;
  }
  std::string ask(const std::string& first_line, const std::string& headers = "") const {
    const int socket = connect();
    say(socket, first_line + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers + "\r\n");
    return hear(socket);
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
  std::vector<int> idle;
  for (int i = 0; i < 30; ++i) {
    idle.push_back(connect());
    say(idle.back(), "GET /metrics HT");
  }
  EXPECT_THAT(ask("GET /metrics"), HasSubstr("\nsterna_step 1250\n"));
  for (const int socket : idle) ::close(socket);
}

TEST_F(MetricsServerTest, APortInUseAndAForeignAddressAreSaid) {
  const std::string taken = "127.0.0.1:" + std::to_string(port());
  const auto again = MetricsServer::start({.prometheus = taken});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message,
            "cannot listen on " + taken + " for metrics.prometheus: Address already in use");
  EXPECT_FALSE(MetricsServer::start({.prometheus = "192.0.2.1:9100"}).ok());
}

}  // namespace
}  // namespace sterna::launcher
