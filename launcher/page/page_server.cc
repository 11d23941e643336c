#include "launcher/page/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "launcher/http/gzip.h"
#include "launcher/http/http_server.h"
#include "launcher/page/page_access.h"
#include "launcher/page/page_feed.h"
#include "launcher/page/page_files.h"
#include "launcher/page/page_hub.h"
#include "launcher/text/environment.h"
#include "launcher/text/machine_name.h"

namespace sterna::launcher {
namespace {

constexpr unsigned kOtherConnections = 60;  // beside the streams of pages
/// A browser sends the cookies of all servers of 127.0.0.1 with each request.
constexpr std::size_t kConnectionBytes = std::size_t{64} << 10;
constexpr Duration kGoodbye = std::chrono::seconds(1);

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Nothing from elsewhere, no script but our files, in nobody's frame, and nothing kept.
const Headers kAlways = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

HttpReply plain(unsigned code, std::string text, Headers more = {}) {
  Headers headers = kAlways;
  headers.insert(headers.end(), more.begin(), more.end());
  return {.code = code,
          .type = "text/plain; charset=utf-8",
          .headers = std::move(headers),
          .body = std::move(text) + "\n"};
}

HttpReply json(const HttpRequest& request, const std::string& text) {
  HttpReply reply{.type = "application/json", .headers = kAlways};
  if (request.header("Accept-Encoding").find("gzip") != std::string_view::npos) {
    reply.body = gzip(text);
    if (!reply.body.empty()) reply.headers.emplace_back("Content-Encoding", "gzip");
  }
  if (reply.body.empty()) reply.body = text;
  return reply;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

ListenAddress loopback(unsigned port) {
  ListenAddress address;
  auto& four = reinterpret_cast<sockaddr_in&>(address.address);
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<std::uint16_t>(port));
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

struct PageServer::State {
  explicit State(const std::string& directory) : feed(directory) {}
  ~State() {
    feed.set_wake(nullptr);
    http.reset();  // whose thread asks the feed
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const PageKeys keys = PageKeys::draw();
  PageFeed feed;
  std::unique_ptr<HttpServer> http;

  HttpReply answer(const HttpRequest& request) {
    const PageAccess access = access_of({.host = request.header("Host"),
                                         .origin = request.header("Origin"),
                                         .token = request.query("token"),
                                         .session = request.cookie(keys.cookie_name.c_str())},
                                        keys);
    if (access == PageAccess::refused) {
      return plain(403,
                   "This page is for who has its address: the one that sterna printed, with "
                   "its token.");
    }
    if (access == PageAccess::traded) {
      return plain(303, "", {{"Location", "/"}, {"Set-Cookie", cookie_header(keys)}});
    }
    HttpReply reply = content(request);
    // A page that stays open for days keeps its cookie.
    reply.headers.emplace_back("Set-Cookie", cookie_header(keys));
    return reply;
  }

  HttpReply content(const HttpRequest& request) {
    const std::string_view path = request.path();
    if (path == "/events") return events(request);
    if (path == "/facts") return json(request, feed.facts());
    if (path == "/shelf") {
      const std::optional<std::string> text = feed.shelf(std::string(request.query("name")));
      return text ? json(request, *text) : plain(202, "not yet: ask again");
    }
    if (path == "/" && feed.is_full()) return full();
    const auto files = page_files();
    const auto file = std::ranges::find(files, path, &PageFile::path);
    if (file == files.end()) return plain(404, "There is no such thing here.");
    HttpReply reply{.type = std::string(file->type), .headers = kAlways, .constant = file->gzipped};
    reply.headers.emplace_back("Content-Encoding", "gzip");
    return reply;
  }

  HttpReply events(const HttpRequest& request) {
    const std::string_view again = request.header("Last-Event-ID");
    auto stream = feed.open(number(again.empty() ? request.query("after") : again));
    if (stream == nullptr) return full();
    HttpReply reply{.type = "text/event-stream", .headers = kAlways};
    reply.stream = std::move(stream);
    return reply;
  }

  static HttpReply full() {
    return plain(503,
                 fmt::format("{} pages look at this run already: close one, then load this again.",
                             PageHub::kMostPages),
                 {{"Retry-After", "5"}});
  }
};

Result<std::unique_ptr<PageServer>> PageServer::start(const PageOptions& options) {
  std::unique_ptr<PageServer> server(new PageServer);
  server->state_ = std::make_unique<State>(options.run_directory);
  State* const state = server->state_.get();
  const HttpServer::Limits limits{.connections = PageHub::kMostPages + kOtherConnections,
                                  .connection_bytes = kConnectionBytes};
  auto http = HttpServer::start(loopback(options.port), limits,
                                [state](const HttpRequest& asked) { return state->answer(asked); });
  if (!http) {
    return Error{http.error().code,
                 fmt::format("cannot listen on 127.0.0.1:{} for the page: {}; give another --port, "
                             "or none",
                             options.port, http.error().message)};
  }
  state->http = std::move(http).value();
  state->feed.set_wake([state] { state->http->wake(); });
  server->url_ =
      fmt::format("http://127.0.0.1:{}/?token={}", state->http->port(), state->keys.token);
  return server;
}

PageServer::PageServer() = default;
PageServer::~PageServer() = default;

unsigned PageServer::port() const { return state_->http->port(); }
void PageServer::update(const RunStatus& status) { state_->feed.update(status); }
void PageServer::log(const std::string& actor, const std::vector<std::string>& lines) {
  state_->feed.log(actor, lines);
}
void PageServer::end(const RunStatus& status, int exit, std::string_view words) {
  state_->feed.end(status, exit, words);
}

void PageServer::say_goodbye() {
  state_->feed.close();
  state_->http->wait_for_streams(kGoodbye);
}

std::string forwarding_line(unsigned port) {
  const std::string name = machine_name();
  const auto user = environment("USER");
  return fmt::format("ssh -N -L {0}:127.0.0.1:{0} {1}{2}", port,
                     user && !user->empty() ? *user + "@" : "", name.empty() ? "HOST" : name);
}

}  // namespace sterna::launcher
