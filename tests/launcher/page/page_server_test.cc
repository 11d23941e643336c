#include "launcher/page/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "launcher/page/page_files.h"
#include "launcher/page/page_hub.h"
#include "launcher/text/json_line.h"
#include "tests/launcher/http/http_client.h"
#include "tests/launcher/view/view_fixture.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PageServerTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "run/logs");
    add("run/metrics.jsonl", R"({"format":1,"kind":"run"})"
                             "\n");
    auto started = PageServer::start({.run_directory = folder / "run"});
    ASSERT_TRUE(started.ok()) << started.error().message;
    server = std::move(started).value();
    const std::string& url = server->url();
    token = url.substr(url.find('=') + 1);
    const std::string traded = ask("/?token=" + token, "");
    const std::size_t begin = traded.find("Set-Cookie: ") + 12;
    cookie = "Cookie: " + traded.substr(begin, traded.find(';', begin) - begin) + "\r\n";
  }
  void add(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::app) << text;
  }
  std::string host() const { return "Host: 127.0.0.1:" + std::to_string(server->port()) + "\r\n"; }
  /// `headers` beside the right host's.
  std::string ask(const std::string& path, const std::string& headers) const {
    return ask_as(path, host() + headers);
  }
  std::string ask_as(const std::string& path, const std::string& headers) const {
    test::HttpClient client(server->port());
    client.ask("GET " + path, "Connection: close\r\n" + headers);
    return client.hear();
  }
  /// A page that has asked for events and heard that it gets them.
  test::HttpClient page() const {
    test::HttpClient client(server->port());
    client.ask("GET /events?after=0", host() + cookie);
    EXPECT_THAT(client.hear_until("retry: 1000\n\n"), StartsWith("HTTP/1.1 200"));
    return client;
  }

  TemporaryFolder folder;
  std::unique_ptr<PageServer> server;
  std::string token;
  std::string cookie;
};

TEST_F(PageServerTest, TheAddressIsTradedForACookieAndThePage) {
  EXPECT_THAT(ask("/?token=" + token, ""),
              AllOf(StartsWith("HTTP/1.1 303"), HasSubstr("Location: /\r\n"),
                    HasSubstr("HttpOnly; SameSite=Strict")));
  EXPECT_THAT(ask("/", cookie),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Encoding: gzip\r\n"),
                    HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'")));
}

TEST_F(PageServerTest, TheCookiesOfManyOtherRunsDoNotMatterAndItsOwnIsRenewed) {
  std::string many = cookie.substr(0, cookie.size() - 2);
  for (int i = 0; i < 150; ++i) {  // of one host a browser keeps some 180
    many += "; sterna-" + std::to_string(i) + "=" + std::string(64, '0');
  }
  EXPECT_THAT(ask("/facts", many + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Max-Age=86400")));
}

TEST_F(PageServerTest, EverythingIsRefusedWithoutTokenOrCookieAndToForeigners) {
  std::vector<std::string> paths = {"/facts", "/events", "/shelf?name=runs", "/nothing"};
  for (const PageFile& file : page_files()) paths.emplace_back(file.path);
  for (const std::string& path : paths) {
    EXPECT_THAT(ask(path, ""), StartsWith("HTTP/1.1 403")) << path;
    EXPECT_THAT(ask_as(path, "Host: evil.example\r\n" + cookie), StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(ask(path, cookie + "Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  }
  EXPECT_THAT(ask("/?token=0" + token, ""), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask_as("/?token=" + token, "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask("/nothing", cookie), StartsWith("HTTP/1.1 404"));
  test::HttpClient poster(server->port());
  poster.ask("POST /facts", "Connection: close\r\n" + host() + cookie);
  EXPECT_THAT(poster.hear(), StartsWith("HTTP/1.1 405"));
}

TEST_F(PageServerTest, TellsAnOpenPageWhatTheRunIsAndWhatItsDirectoryGains) {
  test::HttpClient open = page();
  server->update(status_in_training());
  EXPECT_THAT(open.hear_until("\"config\":\"lenet_mnist\""), HasSubstr("event: status\n"));
  add("run/metrics.jsonl", R"({"kind":"loss","step":1,"loss":2.5,"decay_loss":0.5})"
                           "\n");
  EXPECT_THAT(open.hear_until("[[1,2.5,2.5,2.5,0.5]]"), HasSubstr("event: story\n"));
  add("run/logs/worker0.log", "hello <b>\n");
  EXPECT_THAT(open.hear_until(R"(["worker0","hello <b>"])"), HasSubstr("event: log\n"));
  server->log("worker9", {"from afar"});
  open.hear_until(R"(["worker9","from afar"])");
  const std::string facts = ask("/facts", cookie);
  const Json json = Json::parse(facts.substr(facts.find("\r\n\r\n") + 4));
  EXPECT_EQ(json["status"]["step"], 1250);
  EXPECT_EQ(json["story"]["loss"].size(), 1U);
  EXPECT_EQ(json["log"].size(), 2U);
  EXPECT_EQ(json["end"], nullptr);
}

TEST_F(PageServerTest, TheEndComesFirstAndThenTheRest) {
  test::HttpClient open = page();
  RunStatus last = status_in_training();
  last.phase = "failed";
  server->end(last, 1, "worker0 is dead");
  server->update(status_in_training());  // too late
  add("run/metrics.jsonl", R"({"kind":"tensor","tensor":"conv1"})"
                           "\n");
  server->say_goodbye();
  const std::string told = open.hear();
  EXPECT_THAT(told, HasSubstr("event: end\ndata: {\"exit\":1,\"words\":\"worker0 is dead\"}"));
  EXPECT_LT(told.find("event: end"), told.find("event: status"));
  EXPECT_THAT(told, HasSubstr("conv1"));
  EXPECT_THAT(told, Not(HasSubstr("\"phase\":\"training\"")));
}

TEST_F(PageServerTest, TheHundredAndFirstPageIsToldSoAtOnce) {
  std::vector<test::HttpClient> pages;
  for (std::size_t i = 0; i < PageHub::kMostPages; ++i) pages.push_back(page());
  for (const char* path : {"/", "/events?after=0"}) {
    EXPECT_THAT(ask(path, cookie),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("100 pages look at this run already")));
  }
  EXPECT_THAT(ask("/facts", cookie), StartsWith("HTTP/1.1 200"));
  server->update(status_in_training());
  for (test::HttpClient& open : pages) open.hear_until("event: status");
}

TEST_F(PageServerTest, APageThatNeverReadsHoldsNobodyUp) {
  const test::HttpClient deaf = page();
  test::HttpClient open = page();
  RunStatus large = status_in_training();
  for (int i = 0; i < 8; ++i) {
    // More than the sockets' buffers take: each is heard by who reads, so none is left out.
    large.step = i;
    large.log_lines = {std::string(std::size_t{1} << 20, 'x')};
    server->update(large);
    open.hear_until("\"step\":" + std::to_string(i) + ",");
  }
  EXPECT_THAT(ask("/", cookie), StartsWith("HTTP/1.1 200"));
}

TEST_F(PageServerTest, WhatTakesAWhileIsThereWhenItIsAskedForAgain) {
  add("run/resolved.toml", "format = 1\n");
  test::HttpClient open = page();
  EXPECT_THAT(ask("/shelf?name=resolved", cookie), StartsWith("HTTP/1.1 202"));
  for (const char* line : {"one", "two"}) {  // a round of reading between the two, at least
    add("run/logs/worker0.log", std::string(line) + "\n");
    open.hear_until(line);
  }
  const std::string answer = ask("/shelf?name=resolved", cookie);
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n\"format = 1\\n\""));
}

TEST_F(PageServerTest, APortInUseIsSaid) {
  const auto again = PageServer::start({.run_directory = folder / "run", .port = server->port()});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(server->port()) +
                " for the page: Address already in use; give another --port, or none");
}

}  // namespace
}  // namespace sterna::launcher
