#include "launcher/view/status_json.h"

#include <gtest/gtest.h>

#include "view_fixture.h"

namespace sterna::launcher {
namespace {

TEST(StatusJson, IsReadAsItWasWritten) {
  RunStatus status = status_in_training();
  status.codecs = std::string("ternary for 3 tensors");
  status.nonzero = 0.5;
  status.recall_at_5 = 0.9975;
  status.others = {{std::string("on train"), 0.5}};
  status.precision_what = std::string("of averages");
  status.skipped_evaluations = 3;
  status.evaluator_wait = 0.25;
  status.raw_bytes_up = 1ULL << 62;
  status.slow_links = {{"worker0", "b", "server0", "a", 3'100'000}};
  status.readers = {{std::string("reader0"), 410.5, 2}};
  status.actors[0].host = std::string("b");
  status.actors[0].incarnation = 2;
  const std::string json = status_json(status);
  const Result<RunStatus> read = parse_status(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(status_json(*read), json);
  EXPECT_EQ(read->codecs, status.codecs);
  EXPECT_EQ(read->raw_bytes_up, status.raw_bytes_up);
  EXPECT_EQ(read->loss, status.loss);
  EXPECT_EQ(read->recall_at_5, 0.9975);
  ASSERT_EQ(read->others.size(), 1U);
  EXPECT_EQ(read->others[0].what, "on train");
  EXPECT_EQ(read->precision_what, "of averages");
  EXPECT_EQ(read->skipped_evaluations, 3U);
  EXPECT_EQ(read->evaluator_wait, 0.25);
  EXPECT_EQ(read->slow_links, status.slow_links);
  ASSERT_EQ(read->actors.size(), 2U);
  EXPECT_EQ(read->actors[0].host, "b");
  EXPECT_EQ(read->actors[1].queue_bytes, 1'310'000U);
  ASSERT_EQ(read->readers.size(), 1U);
  EXPECT_EQ(read->readers[0].pictures_per_second, 410.5);
  EXPECT_EQ(read->log_lines, status.log_lines);
}

TEST(StatusJson, SaysWhatIsNotKnown) {
  const Result<RunStatus> read = parse_status(status_json(RunStatus{}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->loss, std::nullopt);
  EXPECT_EQ(read->left_seconds, std::nullopt);
}

TEST(StatusJson, IsOneLineWhateverIsLogged) {
  RunStatus status;
  status.log_lines = {"a\nb\xFF"};
  EXPECT_EQ(status_json(status).find('\n'), std::string::npos);
}

TEST(StatusJson, IsRefusedWhereItIsNone) {
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"config":1})"}) {
    const Result<RunStatus> read = parse_status(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Errc::malformed) << text;
  }
}

TEST(StatusJson, IsRefusedWhereAKeyIsMissing) {
  std::string json = status_json(status_in_training());
  json.replace(json.find("\"pid\""), 5, "\"pit\"");
  const Result<RunStatus> read = parse_status(json);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("pid"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace sterna::launcher
