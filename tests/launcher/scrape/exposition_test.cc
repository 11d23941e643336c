#include "launcher/scrape/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "runtime/base/file.h"
#include "tests/launcher/view/view_fixture.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBoth = {ExpositionFormat::prometheus, ExpositionFormat::openmetrics};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST(Exposition, HasHelpAndTypeBeforeEachFamilysSamples) {
  const RunStatus status = status_in_training();
  EXPECT_THAT(exposition(status, ExpositionFormat::prometheus),
              AllOf(HasSubstr("# HELP sterna_step Steps done; after a restart some are done again\n"
                              "# TYPE sterna_step gauge\nsterna_step 1250\n"),
                    HasSubstr("# TYPE sterna_restarts_total counter\nsterna_restarts_total 0\n"),
                    HasSubstr("sterna_actor_up{actor=\"worker0\",role=\"worker\",host=\"\","
                              "state=\"dead\"} 0\n"),
                    HasSubstr("sterna_actor_memory_bytes{actor=\"server0\"} 55700000\n"),
                    Not(HasSubstr("EOF"))));
  EXPECT_THAT(exposition(status, ExpositionFormat::openmetrics),
              AllOf(HasSubstr("# TYPE sterna_restarts counter\nsterna_restarts_total 0\n"),
                    HasSubstr("# UNIT sterna_actor_memory_bytes bytes\n"), EndsWith("\n# EOF\n")));
}

// What both formats' parsers want, by a reading that shares nothing with the writing.
TEST(Exposition, EachSampleIsOfAFamilyThatWasDescribedOnce) {
  for (const ExpositionFormat format : kBoth) {
    const bool open = format == ExpositionFormat::openmetrics;
    std::map<std::string, std::string> types;
    std::set<std::string> helped;
    std::string family;
    for (const std::string& line : lines(exposition(status_in_training(), format))) {
      std::istringstream words(line);
      std::string hash, what, name, rest;
      if (line.starts_with("#")) {
        words >> hash >> what >> name >> rest;
        if (what == "EOF") continue;
        if (what == "HELP") {
          EXPECT_TRUE(helped.insert(name).second) << line;
        }
        if (what == "TYPE") {
          EXPECT_TRUE(types.emplace(name, rest).second) << line;
        }
        if (what == "UNIT") {
          EXPECT_THAT(name, EndsWith("_" + rest));
        }
        family = name;
        continue;
      }
      const std::string sample = line.substr(0, line.find_first_of("{ "));
      ASSERT_TRUE(types.contains(family)) << line;
      const bool counter = types.at(family) == "counter";
      EXPECT_EQ(sample, counter && open ? family + "_total" : family) << line;
      EXPECT_EQ(counter, sample.ends_with("_total")) << line;
      EXPECT_NO_THROW(static_cast<void>(std::stod(line.substr(line.rfind(' '))))) << line;
    }
    EXPECT_GT(types.size(), 15U);
  }
}

TEST(Exposition, WhatIsNotKnownIsNotThere) {
  RunStatus status;
  EXPECT_THAT(exposition(status, ExpositionFormat::prometheus),
              AllOf(Not(HasSubstr("sterna_loss")), Not(HasSubstr("sterna_precision")),
                    Not(HasSubstr("sterna_actor_up")), HasSubstr("sterna_step 0\n")));
  status.loss = std::nan("");
  EXPECT_THAT(exposition(status, ExpositionFormat::prometheus), HasSubstr("sterna_loss NaN\n"));
}

TEST(Exposition, HostileNamesStayWithinTheirQuotes) {
  RunStatus status;
  status.config = "a\"} 1\nsterna_step 7\\";
  EXPECT_THAT(exposition(status, ExpositionFormat::prometheus),
              AllOf(HasSubstr("config=\"a\\\"} 1\\nsterna_step 7\\\\\","),
                    Not(HasSubstr("\nsterna_step 7"))));
}

TEST(Exposition, IsUtf8WhateverARunIsCalled) {
  RunStatus status;
  status.config = "\xC3\xBC-\xFF-\xC3";
  EXPECT_THAT(exposition(status, ExpositionFormat::prometheus),
              HasSubstr("config=\"\xC3\xBC-?-?\","));
}

TEST(Exposition, IsBoundedAndSaysWhatIsLeftOut) {
  RunStatus status;
  status.actors.resize(1000);
  for (std::size_t i = 0; i < status.actors.size(); ++i) {
    status.actors[i].name = "worker" + std::to_string(i);
  }
  const std::string all = exposition(status, ExpositionFormat::prometheus, 1'000'000);
  const std::string some = exposition(status, ExpositionFormat::prometheus, 500);
  EXPECT_THAT(all, HasSubstr("\nsterna_series_left_out 0\n"));
  std::size_t samples = 0;
  for (const std::string& line : lines(all)) samples += line.starts_with("#") ? 0 : 1;
  EXPECT_THAT(some, HasSubstr("\nsterna_series_left_out " + std::to_string(samples - 501) + "\n"));
}

TEST(Exposition, OfTheLargestRunsStaysSmall) {
  RunStatus status = status_in_training();
  status.actors.resize(10'000, status.actors.front());
  for (std::size_t i = 0; i < status.actors.size(); ++i) {
    status.actors[i].name = "worker" + std::to_string(i);
  }
  for (const ExpositionFormat format : kBoth) {
    const std::string text = exposition(status, format);
    EXPECT_LE(text.size(), 1'000'000U);
    const auto samples = std::ranges::count_if(
        lines(text), [](const std::string& line) { return !line.starts_with("#"); });
    EXPECT_LE(samples, static_cast<std::ptrdiff_t>(kMostSeries) + 1);
  }
}

TEST(Exposition, PrometheusOwnCheckerFindsNothingToSay) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0) {  // NOLINT(concurrency-mt-unsafe)
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread writes the environment
    ASSERT_EQ(std::getenv("CI"), nullptr) << "CI installs the package prometheus, which has it";
    GTEST_SKIP() << "no promtool here: it is in the package prometheus";
  }
  const TemporaryFolder folder;
  const std::string said = folder.path() + "/said";
  const std::string command = "promtool check metrics >'" + said + "' 2>&1";
  std::FILE* checker = ::popen(command.c_str(), "w");
  ASSERT_NE(checker, nullptr);
  std::fputs(exposition(status_in_training(), ExpositionFormat::prometheus).c_str(), checker);
  EXPECT_EQ(::pclose(checker), 0);
  EXPECT_EQ(read_file(said).value(), "");
}

TEST(Exposition, EveryMetricIsInTheHelp) {
  for (const Metric& metric : metrics()) {
    EXPECT_THAT(metrics_as_text(), HasSubstr(metric.name));
    EXPECT_THAT(metrics_as_markdown(), HasSubstr(metric.name));
    EXPECT_TRUE(metric.unit.empty() || metric.name.ends_with(metric.unit)) << metric.name;
  }
}

}  // namespace
}  // namespace sterna::launcher
