#include "input/fetch/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sodium.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "archives.h"
#include "input/digits/digits.h"
#include "input/fetch/download.h"
#include "loopback_server.h"
#include "runtime/base/random.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string noise(std::size_t size) {
  SeededRandom random(3);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(random.next()));
  return bytes;
}

std::string sha256(const std::string& bytes) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string text(2 * sizeof hash + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), hash, sizeof hash);
  text.pop_back();
  return text;
}

/// The right answer to any request for `content`, whole or from a place on.
HttpReply honest(const HttpRequest& request, const std::string& content) {
  if (!request.range) return {.status = 200, .body = content};
  if (*request.range >= content.size()) return {.status = 416};
  return {.status = 206, .body = content.substr(*request.range)};
}

class Fetch : public ::testing::Test {
 protected:
  Fetch() {
    options_.dir = scratch_ / "mnist";
    set_.files = {{"file.gz", content_.size(), sha256(content_)}};
    options_.stall_timeout = std::chrono::seconds(30);
  }

  Result<void> fetch(const std::vector<std::string>& mirrors) {
    options_.mirrors = mirrors;
    return fetch_set(set_, options_);
  }
  void expect_fetched() {
    EXPECT_THAT(files_in(options_.dir), ElementsAre("file.gz"));
    const auto bytes = read_file(options_.dir / "file.gz");
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), content_);
  }
  /// What an earlier, interrupted call left.
  void leave_part(const std::string& bytes) {
    std::filesystem::create_directories(options_.dir);
    write_file(options_.dir / "file.gz.part",
               {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }

  TemporaryFolder scratch_;
  std::string content_ = noise(300'000);
  RemoteSet set_;
  FetchOptions options_;
};

TEST_F(Fetch, AGoodServerGivesTheFileItsNameAndTheProgressEndsAtItsSize) {
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  std::uint64_t last = 0;
  options_.progress = [&](const std::string&, std::uint64_t done, std::uint64_t) { last = done; };
  const Result<void> result = fetch({server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_fetched();
  EXPECT_EQ(last, content_.size());
  EXPECT_EQ(server.requests().at(0).path, "/file.gz");
}

TEST_F(Fetch, APartStaysTheDownloadsUntilItsCallerIsDoneWithIt) {
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  DownloadOptions request{
      .url = server.url() + "file.gz", .part = scratch_ / "file.gz.part", .bytes = content_.size()};
  request.connect_timeout = options_.connect_timeout;
  request.stall_timeout = options_.stall_timeout;
  DownloadResult first = download(request);
  ASSERT_EQ(first.end, DownloadEnd::complete) << first.why;
  const DownloadResult second = download(request);
  EXPECT_EQ(second.end, DownloadEnd::local);
  EXPECT_THAT(second.why, HasSubstr("another download is writing"));
  EXPECT_EQ(std::filesystem::file_size(request.part), content_.size());
  first.held.reset();
  EXPECT_EQ(download(request).end, DownloadEnd::complete);
}

TEST_F(Fetch, AFileThatIsThereAlreadyIsNotAskedForAgain) {
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  ASSERT_TRUE(fetch({server.url()}).ok());
  ASSERT_TRUE(fetch({server.url()}).ok());
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Fetch, AnInterruptedDownloadGoesOnWhereItStopped) {
  LoopbackServer server([&](const HttpRequest& request) {
    if (request.range) return honest(request, content_);
    return HttpReply{.body = content_.substr(0, 100'000), .declared = content_.size()};
  });
  const Result<void> result = fetch({server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_fetched();
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].range, 100'000U);
}

TEST_F(Fetch, ALaterCallGoesOnWhereAnEarlierOneGaveUp) {
  {
    LoopbackServer broken([&](const HttpRequest& request) {
      HttpReply reply = honest(request, content_);
      reply.declared = reply.body.size();
      reply.body.resize(1000);
      return reply;
    });
    const Result<void> result = fetch({broken.url()});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("run the command again"));
    EXPECT_EQ(broken.requests().size(), 3U);
    EXPECT_THAT(files_in(options_.dir), ElementsAre("file.gz.part"));
  }
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  ASSERT_TRUE(fetch({server.url()}).ok());
  expect_fetched();
  EXPECT_EQ(server.requests().at(0).range, 3000U);
}

TEST_F(Fetch, AServerWithoutRangesSendsAllAndThePartIsReplaced) {
  leave_part(content_.substr(0, 5000));
  LoopbackServer server([&](const HttpRequest&) { return HttpReply{.body = content_}; });
  ASSERT_TRUE(fetch({server.url()}).ok());
  expect_fetched();
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Fetch, AWrongPartIsFoundByTheSumAndFetchedAnew) {
  leave_part("not the beginning of that file");
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  const Result<void> result = fetch({server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_fetched();
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Fetch, APartAsLargeAsTheFileIsNotTrusted) {
  leave_part(noise(400'000));
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  ASSERT_TRUE(fetch({server.url()}).ok());
  expect_fetched();
}

TEST_F(Fetch, AWrongSumIsAnErrorThatNamesFileAndMirrorAndLeavesNothing) {
  std::string wrong = content_;
  wrong[7] = static_cast<char>(wrong[7] ^ 1);
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, wrong); });
  LoopbackServer other([&](const HttpRequest& request) { return honest(request, content_); });
  const Result<void> result = fetch({server.url(), other.url()});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::malformed);
  EXPECT_THAT(result.error().message, HasSubstr("file.gz from " + server.url()));
  EXPECT_THAT(result.error().message, HasSubstr("deleted"));
  EXPECT_THAT(result.error().message, Not(HasSubstr("\n")));
  EXPECT_THAT(files_in(options_.dir), IsEmpty());
  EXPECT_THAT(other.requests(), IsEmpty());
}

TEST_F(Fetch, AMirrorWithoutTheFileIsFollowedByTheNext) {
  LoopbackServer empty([](const HttpRequest&) { return HttpReply{.status = 404, .body = "no"}; });
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  const Result<void> result = fetch({empty.url(), server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_fetched();
  EXPECT_EQ(empty.requests().size(), 1U);
}

TEST_F(Fetch, WhereNoMirrorHasItTheErrorSaysWhatEachAnswered) {
  LoopbackServer empty([](const HttpRequest&) { return HttpReply{.status = 404}; });
  LoopbackServer ill([](const HttpRequest&) { return HttpReply{.status = 503}; });
  const Result<void> result = fetch({empty.url(), ill.url()});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::unavailable);
  EXPECT_THAT(result.error().message, HasSubstr(empty.url() + ": the server answered 404"));
  EXPECT_THAT(result.error().message, HasSubstr(ill.url() + ": the server answered 503"));
  EXPECT_FALSE(std::filesystem::exists(options_.dir / "file.gz"));
}

TEST_F(Fetch, AnAddressWhereNobodyListensIsFollowedByTheNext) {
  std::string gone;
  {
    LoopbackServer closed([](const HttpRequest&) { return HttpReply{}; });
    gone = closed.url();
  }
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  ASSERT_TRUE(fetch({gone, server.url()}).ok());
  expect_fetched();
}

TEST_F(Fetch, AServerThatStallsIsGivenUpAndTheNextGoesOnFromThere) {
  options_.stall_timeout = std::chrono::seconds(1);
  options_.attempts = 1;
  LoopbackServer lazy([&](const HttpRequest&) {
    return HttpReply{.body = content_.substr(0, 500), .declared = content_.size(), .stall = true};
  });
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  const Result<void> result = fetch({lazy.url(), server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_fetched();
  EXPECT_EQ(server.requests().at(0).range, 500U);
}

TEST_F(Fetch, AServerThatSendsMoreThanTheFileHasIsNotStored) {
  const std::string larger = content_ + "more";
  LoopbackServer open([&](const HttpRequest&) { return HttpReply{.body = larger}; });
  const Result<void> result = fetch({open.url()});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("sends more than the 300000 bytes"));
  EXPECT_FALSE(std::filesystem::exists(options_.dir / "file.gz"));
  EXPECT_FALSE(std::filesystem::exists(options_.dir / "file.gz.part"));
}

TEST_F(Fetch, AServerThatDeclaresLessThanItShouldIsNotBelieved) {
  LoopbackServer server([&](const HttpRequest&) { return HttpReply{.body = "short"}; });
  const Result<void> result = fetch({server.url()});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("ended after 5 of 300000 bytes"));
  EXPECT_FALSE(std::filesystem::exists(options_.dir / "file.gz"));
}

TEST_F(Fetch, AnAddressThatIsNotHttpIsRefused) {
  const Result<void> result = fetch({"file:///etc/"});
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(std::filesystem::exists(options_.dir / "file.gz"));
}

TEST_F(Fetch, AnArchiveIsUnpackedOnceAndRemoved) {
  content_ = archive_of({{"set/", ""}, {"set/a.bin", "one"}, {"set/b/c.bin", "two"}});
  set_.packed = true;
  set_.files = {{"file.gz", content_.size(), sha256(content_)}};
  LoopbackServer server([&](const HttpRequest& request) { return honest(request, content_); });
  const Result<void> result = fetch({server.url()});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_THAT(files_in(options_.dir), ElementsAre("FETCHED.txt", "a.bin"));
  EXPECT_EQ(read_file(options_.dir / "b/c.bin"), (std::vector<std::uint8_t>{'t', 'w', 'o'}));
  ASSERT_TRUE(fetch({server.url()}).ok());
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Fetch, EverySetHasFilesOfAKnownSizeAndSum) {
  for (const RemoteSet& set : remote_sets()) {
    EXPECT_FALSE(set.mirrors.empty()) << set.name;
    for (const RemoteFile& file : set.files) {
      EXPECT_GT(file.bytes, 0U) << file.name;
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos) << file.name;
    }
  }
}

TEST_F(Fetch, DrawnDigitsAreNotMixedWithMnist) {
  ASSERT_TRUE(make_digits(options_.dir, {.seed = 1, .train = 2, .test = 2}).ok());
  const Result<void> result = fetch_set(set_, options_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::already_exists);
}

TEST_F(Fetch, ADirectoryThatCannotBeMadeIsAnErrorThatNamesIt) {
  write_file(scratch_ / "plain", {});
  options_.dir = scratch_ / "plain/mnist";
  const Result<void> result = fetch({"http://127.0.0.1:1/"});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr(options_.dir.string()));
}

}  // namespace
}  // namespace sterna::input
