#include "actors/job/scheme_section.h"

#include <gtest/gtest.h>

#include <set>

#include "actors/job/job.h"

namespace sterna::actors {
namespace {

using std::chrono::milliseconds;

TEST(InjectedDelays, SlowChosenRanksAlikeOrByWhatTheSeedDraws) {
  EXPECT_EQ(delay_of({}, 1, 0, 0), Duration::zero());
  std::vector<DelaySection> delays = {{.ranks = {2}, .delay = milliseconds(10)}};
  EXPECT_EQ(delay_of(delays, 1, 2, 7), Duration(milliseconds(10)));
  EXPECT_EQ(delay_of(delays, 1, 1, 7), Duration::zero());
  delays.push_back({.ranks = {1, 2}, .delay = milliseconds(5)});
  EXPECT_EQ(delay_of(delays, 1, 2, 7), Duration(milliseconds(15)));
  EXPECT_EQ(delay_of(delays, 1, 1, 7), Duration(milliseconds(5)));

  delays = {{.ranks = {2}, .delay = milliseconds(10), .random = true}};
  EXPECT_EQ(delay_of(delays, 1, 2, 7), delay_of(delays, 1, 2, 7));
  std::set<Duration> drawn;
  double sum = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const Duration delay = delay_of(delays, 1, 2, step);
    EXPECT_GE(delay, Duration::zero());
    EXPECT_LE(delay, Duration(milliseconds(20)));
    drawn.insert(delay);
    sum += std::chrono::duration<double, std::milli>(delay).count();
  }
  EXPECT_GT(drawn.size(), 990U);
  EXPECT_NEAR(sum / 1000, 10, 1);
}

TEST(SchemeSection, OnlyRanksInStepThatCountAlikeAreAveraged) {
  JobConfig job;
  job.gradient.host = HostRule::average;
  EXPECT_FALSE(mismatch(job, 4));
  job.scheme.quorum = 4;
  EXPECT_FALSE(mismatch(job, 4));
  const auto refused = [&] {
    const std::optional<Mismatch> wrong = mismatch(job, 4);
    return wrong ? std::string(wrong->key) : std::string();
  };
  job.scheme.quorum = 3;
  EXPECT_EQ(refused(), "gradient.host");
  for (const char* name : {"async", "downpour", "sagn", "local_sgd", "aeasgd"}) {
    job.scheme = {.name = name};
    EXPECT_EQ(refused(), "gradient.host") << name;
  }
  job.scheme = {.combine = CombineRule::sum};
  EXPECT_EQ(refused(), "gradient.host");
  job.scheme = {.rank_rates = {1, 1, 1, 2}};
  EXPECT_EQ(refused(), "gradient.host");
}

TEST(SchemeSection, WithoutServersRanksAreInStepAndNothingComesDown) {
  JobConfig job;
  job.gradient.exchange = ExchangeRule::nccl;
  EXPECT_FALSE(mismatch(job, 4));
  const JobConfig good = job;
  const auto refused = [&] {
    const std::optional<Mismatch> wrong = mismatch(job, 4);
    job = good;
    return wrong ? std::string(wrong->key) : std::string();
  };
  job.scheme.quorum = 3;
  EXPECT_EQ(refused(), "gradient.exchange");
  for (const char* name : {"async", "downpour", "sagn", "local_sgd", "aeasgd"}) {
    job.scheme = {.name = name};
    EXPECT_EQ(refused(), "gradient.exchange") << name;
  }
  for (const Down down : {Down::parameters_bf16, Down::average, Down::ternary}) {
    job.gradient.down = down;
    EXPECT_EQ(refused(), "gradient.down");
  }
  job.gradient.host = HostRule::average;
  EXPECT_EQ(refused(), "gradient.host");
  job.gradient.codec = kAutoCodec;
  EXPECT_EQ(refused(), "gradient.codec");
}

TEST(SchemeSection, VotesHaveNoWeightAndAreOfOneEpoch) {
  JobConfig job;
  job.gradient.codec = "sign";
  job.scheme.combine = CombineRule::vote;
  job.gradient.floating_grad_epoch = 2;
  const auto refused = [&] {
    const std::optional<Mismatch> wrong = mismatch(job, 3);
    return wrong ? std::string(wrong->key) : std::string();
  };
  EXPECT_EQ(refused(), "");
  job.scheme.quorum = 2;
  EXPECT_EQ(refused(), "gradient.floating_grad_epoch");
  job.gradient.floating_grad_epoch = 0;
  EXPECT_EQ(refused(), "");
  job.scheme.rank_rates = {1, 1, 2};
  EXPECT_EQ(refused(), "scheme.rank_rates");
}

TEST(SchemeSection, OnlyDifferencesHaveADecayThatIsNoPartOfGradients) {
  JobConfig job;
  job.local_optimizer.name = "adamw";
  const auto refused = [&](const char* name) {
    job.scheme = {.name = name, .window = 2};
    const std::optional<Mismatch> wrong = mismatch(job, 3);
    return wrong ? std::string(wrong->key) : std::string();
  };
  for (const char* name : {"local_sgd", "aeasgd"}) EXPECT_EQ(refused(name), "") << name;
  for (const char* name : {"downpour", "agn", "sagn"}) {
    EXPECT_EQ(refused(name), "local_optimizer.name") << name;
  }
  job.optimizer.weight_decay = 0;
  EXPECT_EQ(refused("agn"), "");
}

TEST(SchemeSection, CountsWhatLeadsToAVersion) {
  JobConfig job;
  job.steps = 10;
  job.batch = 4;
  job.ranks = 3;
  job.examples = 120;
  EXPECT_TRUE(job.in_step());
  EXPECT_EQ(job.end_of_steps(), 10U);
  EXPECT_EQ(job.course().steps_per_epoch, 10);
  job.scheme.quorum = 2;
  EXPECT_FALSE(job.in_step());
  EXPECT_EQ(job.position_of(5), 40U);
  job.scheme = {.name = "agn", .window = 5};
  EXPECT_EQ(job.position_of(5), 100U);
  EXPECT_EQ(job.end_of_steps(), 55U);
  EXPECT_EQ(job.course().steps_per_epoch, 6);
  job.scheme.name = "sagn";
  EXPECT_EQ(job.position_of(5), 300U);
  // Every third epoch as fp32: of a rank's own pushes, each of 60 examples of all.
  job.gradient.floating_grad_epoch = 3;
  EXPECT_FALSE(job.floats(3));
  EXPECT_TRUE(job.floats(4));
  EXPECT_TRUE(job.floats(5));
  EXPECT_FALSE(job.floats(6));
  // Of a quorum's, as versions are.
  job.scheme = {.quorum = 2};
  EXPECT_FALSE(job.floats(29));
  EXPECT_TRUE(job.floats(30));
  EXPECT_EQ(job.position_of(30), 2 * job.examples);
}

}  // namespace
}  // namespace sterna::actors
