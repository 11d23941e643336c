// [scheme] and [local_optimizer]: what goes together, and each thing that does not, in words.
#include "actors/job/scheme_section.h"

#include <gmock/gmock.h>

#include "tests/launcher/cluster_file/cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

class SchemeKeysTest : public ClusterFileTest {
 protected:
  /// A file with two ranks more, and these lines.
  static std::string file(const std::string& lines) {
    return std::string(smallest) + "[[actor]]\nrole = \"worker\"\ncount = 2\n" + lines;
  }
  std::string error_of(const std::string& lines) { return error(file(lines)); }
  /// Without the place.
  std::string message_of(const std::string& lines) {
    const std::string text = error_of(lines);
    const auto end = text.find(": ");
    return end == std::string::npos ? text : text.substr(end + 2);
  }
  static std::string scheme(const std::string& name, const std::string& more = "") {
    return "[scheme]\nname = \"" + name + "\"\n" + more;
  }
};

TEST_F(SchemeKeysTest, EverySchemeMayBeChosen) {
  for (const actors::SchemeFacts& facts : actors::scheme_facts()) {
    const std::string local = facts.elastic ? "[local_optimizer]\nname = \"gd\"\n" : "";
    EXPECT_EQ(error_of(scheme(std::string(facts.name)) + local), "no error") << facts.name;
  }
  EXPECT_EQ(error_of(scheme("asink")),
            "x.toml:17: \"scheme.name\" must be \"sync\", \"async\", \"downpour\", \"agn\", "
            "\"sagn\", \"local_sgd\", \"aeasgd\" or \"aeamsgd\", not \"asink\"");
}

TEST_F(SchemeKeysTest, AVersionIsMadeOfAtMostAllRanks) {
  EXPECT_EQ(error_of(scheme("sync", "quorum = 3\n")), "no error");
  EXPECT_EQ(message_of(scheme("sync", "quorum = 4\n")),
            "\"scheme.quorum\" = 4 of 3 ranks: at most all can be waited for");
  EXPECT_EQ(message_of(scheme("sync", "rank_rates = [1.0, 2.0]\n")),
            "\"scheme.rank_rates\" has 2 factors for 3 ranks");
}

TEST_F(SchemeKeysTest, ServersHaveReplicasInEverySchemeWithScalersOfEachRanksOwn) {
  const auto with = [&](const std::string& lines) {
    return error(file(lines), {"actor.parameter_server.replicas=1"});
  };
  for (const actors::SchemeFacts& facts : actors::scheme_facts()) {
    const std::string local = facts.elastic ? "[local_optimizer]\nname = \"gd\"\n" : "";
    EXPECT_EQ(with(scheme(std::string(facts.name)) + local), "no error") << facts.name;
  }
  EXPECT_EQ(with("[gradient]\nscaler = \"shared\"\n"), "no error");
  EXPECT_EQ(with(scheme("sync", "quorum = 2\n")), "no error");
  EXPECT_THAT(with(scheme("sync", "quorum = 2\n") + "[gradient]\nscaler = \"last_step\"\n"),
              HasSubstr("only if each rank has scalers of its own: set gradient.scaler = \"own\", "
                        "or remove \"actor.replicas\""));
  for (const char* ahead :
       {"[evaluator]\nbehind = \"skip\"\n", "[evaluator]\nevery_seconds = 2\n"}) {
    EXPECT_THAT(with(scheme("async") + ahead),
                HasSubstr("training waits for evaluations by steps"));
    EXPECT_EQ(with(ahead), "no error");
  }
}

TEST_F(SchemeKeysTest, ARunGoesOnWithoutLostRanksOnlyBelowAFullQuorum) {
  const auto with = [&](const std::string& lines) {
    return error(file(lines), {"cluster.lost_host=quorum"});
  };
  EXPECT_EQ(with(scheme("sync", "quorum = 2\n")), "no error");
  for (const char* wrong : {"", "quorum = 3\n"}) {
    EXPECT_THAT(with(scheme("sync", wrong)),
                HasSubstr("\"cluster.lost_host\" = \"quorum\" goes on without lost ranks: "
                          "\"scheme.quorum\" must be set, and below the number of ranks (3)"));
  }
}

TEST_F(SchemeKeysTest, WorkersAreToComeAgainOnlyWhereTheirRanksCanGoOn) {
  const auto with = [&](const std::string& lines) {
    return error(std::string(smallest) + "[[actor]]\nrole = \"worker\"\ncount = 2\nrestart = 3\n" +
                 lines);
  };
  for (const char* right : {"sync", "async", "local_sgd"}) {
    const std::string gd =
        std::string(right) == "local_sgd" ? "[local_optimizer]\nname = \"gd\"\n" : "";
    EXPECT_EQ(with(scheme(right) + gd), "no error") << right;
  }
  EXPECT_EQ(with(scheme("sync", "quorum = 2\n")), "no error");
  const std::string not_again = "is not started again by itself: all actors are";
  const std::string momentum = "[local_optimizer]\nname = \"momentum\"\n";
  EXPECT_THAT(with(scheme("local_sgd") + momentum), HasSubstr(not_again));
  EXPECT_THAT(with(scheme("aeasgd") + "[local_optimizer]\nname = \"gd\"\n"), HasSubstr(not_again));
}

TEST_F(SchemeKeysTest, WithoutServersOneWorkerHasAllRanks) {
  const auto without = [&](const std::string& actors, const std::string& more = "") {
    return error(
        "format = 1\n[[actor]]\nrole = \"input_reader\"\n[[actor]]\nrole = \"evaluator\"\n" +
        actors + "[job]\nnet = \"lenet\"\nsteps = 200\n[gradient]\nexchange = \"nccl\"\n" + more);
  };
  const std::string worker = "[[actor]]\nrole = \"worker\"\n";
  EXPECT_EQ(without(worker), "no error");
  EXPECT_EQ(without(worker + "ranks = 4\n"), "no error");
  EXPECT_EQ(without(worker + "[[actor]]\nrole = \"parameter_server\"\n"),
            "x.toml:8: \"gradient.exchange\" = \"nccl\" has no parameter servers: the worker has "
            "the parameters; remove this [[actor]]");
  EXPECT_EQ(
      without(worker + "count = 2\nranks = 3\n"),
      "x.toml:6: with \"gradient.exchange\" = \"nccl\" one worker has all ranks, and here are "
      "2; set \"actor.count\" = 1 and \"actor.ranks\" = 6");
  EXPECT_EQ(without(""),
            "x.toml: no actor has the role \"worker\", which computes gradients; add "
            "[[actor]] with role = \"worker\"");
  EXPECT_EQ(
      without(worker, "[scheme]\nname = \"async\"\n"),
      "x.toml:12: \"gradient.exchange\" = \"nccl\" is for ranks in step: \"scheme.name\" must "
      "be \"sync\", without \"scheme.quorum\"");
  EXPECT_EQ(without(worker, "down = \"parameters_bf16\"\n"),
            "x.toml:13: \"gradient.down\" is what comes from servers, and \"gradient.exchange\" = "
            "\"nccl\" has no servers; remove one of them");
  const std::string on_gpus = worker + "backend = \"cuda\"\ngpus = 2\n";
  const std::string host = "[[host]]\nname = \"a\"\ngpus = 2\n";
  EXPECT_EQ(without(on_gpus + "ranks = 2\n" + host), "no error");
  EXPECT_EQ(without(on_gpus + "ranks = 2\ndevices = [1, 1]\n" + host), "no error");
  for (const char* devices : {"", "devices = [1, 1]\n"}) {
    EXPECT_EQ(without(on_gpus + devices + host),
              "x.toml:9: a worker of 1 rank computes on as many GPUs at most, not on 2; set "
              "\"actor.ranks\" to 2 or more, or \"actor.gpus\" to 1");
  }
  EXPECT_EQ(without(worker + "backend = \"cuda\"\n", "buckets = true\n"),
            "x.toml:8: no device does gradient.buckets where gradient.exchange = \"nccl\" yet; "
            "set actor.backend = \"cpu\"");
  EXPECT_EQ(without(worker + "backend = \"cuda\"\n", "error_feedback = true\n"), "no error");
}

TEST_F(SchemeKeysTest, RanksAreAveragedWhereAllStepTogetherAndWorkersHaveAsMany) {
  const std::string averages = "[gradient]\nhost = \"average\"\n";
  EXPECT_EQ(error_of(averages), "no error");
  EXPECT_EQ(message_of("ranks = 2\n" + averages),
            "with gradient.host = \"average\" all workers have as many ranks: 2 here, and 1 in the "
            "first [[actor]] of workers; make them equal, or set gradient.host = \"each\"");
  EXPECT_EQ(message_of(scheme("sync", "quorum = 2\n") + averages),
            "\"gradient.host\" = \"average\" needs ranks that all step from the same version, "
            "which those of a quorum of 2 do not; use \"each\"");
  EXPECT_EQ(message_of(scheme("sync", "rank_rates = [1.0, 2.0, 1.0]\n") + averages),
            "\"gradient.host\" = \"average\" leaves no single ranks for \"scheme.rank_rates\", or "
            "\"scheme.combine\" = \"sum\" or \"vote\", to count; use \"each\"");
}

TEST_F(SchemeKeysTest, WindowsAreOfSchemesThatHaveThem) {
  EXPECT_EQ(message_of(scheme("agn", "window = 0\n")),
            "\"scheme.window\" must be at least 1 and at most 65535, not 0");
  EXPECT_EQ(message_of(scheme("async", "window = 2\n")),
            "\"scheme.window\" is for the scheme \"downpour\", \"agn\", \"sagn\", \"local_sgd\", "
            "\"aeasgd\" or \"aeamsgd\", not for \"async\"; remove it");
}

TEST_F(SchemeKeysTest, AKeyOfAnotherSchemeIsRefused) {
  EXPECT_EQ(message_of(scheme("async", "quorum = 2\n")),
            "\"scheme.quorum\" is for the scheme \"sync\", not for \"async\"; remove it");
  EXPECT_EQ(message_of(scheme("sync", "max_staleness = 1\n")),
            "\"scheme.max_staleness\" is for the scheme \"async\", not for \"sync\"; remove it");
  EXPECT_EQ(message_of(scheme("sync", "staleness_weight = \"inverse\"\n")),
            "\"scheme.staleness_weight\" is for the scheme \"async\", not for \"sync\"; remove it");
  EXPECT_EQ(message_of(scheme("async", "combine = \"sum\"\n")),
            "\"scheme.combine\" is for the scheme \"sync\", not for \"async\"; remove it");
  EXPECT_EQ(message_of(scheme("agn", "moving_rate = 0.3\n")),
            "\"scheme.moving_rate\" is for the scheme \"aeasgd\" or \"aeamsgd\", not for \"agn\"; "
            "remove it");
  EXPECT_EQ(message_of(scheme("aeasgd", "momentum = 0.5\n")),
            "\"scheme.momentum\" is for the scheme \"aeamsgd\", not for \"aeasgd\"; remove it");
  EXPECT_EQ(message_of("[local_optimizer]\nname = \"gd\"\n"),
            "[local_optimizer] is of ranks that step by themselves, which those of \"sync\" do "
            "not; remove it");
  EXPECT_EQ(message_of(scheme("aeamsgd") + "[local_optimizer]\nname = \"adam\"\n"),
            "\"aeamsgd\" has a momentum of its own: \"local_optimizer.name\" must be \"gd\"");
}

TEST_F(SchemeKeysTest, DelaysOfRanksAreAListOfTables) {
  const std::string two =
      "[[inject.delay]]\nranks = [2]\ndelay = \"180ms\"\n"
      "[[inject.delay]]\nranks = [0, 1]\ndelay = \"1s\"\nrandom = true\n";
  const auto read_two = read(file(two));
  ASSERT_TRUE(read_two.ok()) << read_two.error().message;
  const std::vector<actors::DelaySection> expected = {
      {.ranks = {2}, .delay = std::chrono::milliseconds(180)},
      {.ranks = {0, 1}, .delay = std::chrono::seconds(1), .random = true}};
  EXPECT_EQ(read_two->delays, expected);
  const auto again = read(resolved(*read_two));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->delays, expected);
  const auto set = read(file(two), {"inject.delay=[{ranks = [1], delay = \"2s\"}]"});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->delays,
            (std::vector<actors::DelaySection>{{.ranks = {1}, .delay = std::chrono::seconds(2)}}));

  EXPECT_FALSE(read(file(two), {"inject.delay=[{delay = \"2s\"}]"}).ok()) << "no ranks";

  EXPECT_EQ(message_of("[[inject.delay]]\nranks = [3]\ndelay = \"1s\"\n"),
            "[[inject.delay]] names rank 3; the ranks are 0 to 2");
  EXPECT_EQ(message_of("[[inject.delay]]\nranks = [0]\n"),
            "the key \"inject.delay.delay\" is missing");
  EXPECT_EQ(message_of("[inject.delay]\nranks = [0]\n"),
            "there may be several inject.delays; write [[inject.delay]], not [inject.delay]");
  EXPECT_EQ(message_of("[[inject.delay]]\nrank = [0]\ndelay = \"1s\"\nranks = [0]\n"),
            "unknown key \"inject.delay.rank\"; did you mean \"inject.delay.ranks\"?");
  EXPECT_EQ(message_of("[inject]\ndelay_ranks = [1]\n"),
            "unknown key \"inject.delay_ranks\"; sterna help keys lists all keys");
}

TEST_F(SchemeKeysTest, TracedStepsAreARangeANumberOrAll) {
  for (const char* steps : {"100..110", "7", "all"}) {
    EXPECT_EQ(error_of(std::string("[trace]\nsteps = \"") + steps + "\"\n"), "no error") << steps;
  }
  for (const char* steps : {"5-7", "7..5", "..", "5..", "every", "-1"}) {
    EXPECT_EQ(message_of(std::string("[trace]\nsteps = \"") + steps + "\"\n"),
              std::string("\"trace.steps\": \"") + steps +
                  "\" are no steps: write \"100..110\", \"100\" or \"all\"");
  }
  EXPECT_EQ(message_of("[trace]\nsteps = \"5000..5010\"\n"),
            "\"trace.steps\" = \"5000..5010\" begins behind the last step, which is 199");
}

TEST_F(SchemeKeysTest, AveragesGoDownToRanksThatAllStepFromTheSameVersion) {
  const std::string average = "[gradient]\nscaler = \"shared\"\ndown = \"average\"\n";
  EXPECT_EQ(error_of(average), "no error");
  EXPECT_EQ(message_of(scheme("async") + average),
            "\"gradient.down\" = \"average\" or \"ternary\" needs ranks that all step from the "
            "same version, which those of \"async\" do not; use \"parameters\"");
  EXPECT_EQ(message_of(scheme("sync", "quorum = 2\n") + "[gradient]\ndown = \"ternary\"\n"),
            "\"gradient.down\" = \"average\" or \"ternary\" needs ranks that all step from the "
            "same version, which those of a quorum of 2 do not; use \"parameters\"");
  EXPECT_EQ(message_of(scheme("sync", "combine = \"sum\"\n") + average),
            "\"gradient.down\" = \"average\" or \"ternary\" sends the plain average, which "
            "\"scheme.rank_rates\" and \"scheme.combine\" = \"sum\" or \"vote\" do not make");
}

TEST_F(SchemeKeysTest, ScalersAreAgreedWhereAllRanksMakeEachVersion) {
  const std::string shared = "[gradient]\nscaler = \"shared\"\n";
  EXPECT_EQ(error_of(scheme("sagn", "window = 3\n") + shared), "no error");
  EXPECT_EQ(message_of(scheme("agn") + shared),
            "\"gradient.scaler\" must be \"own\" with \"agn\": a rank cannot wait for scalers of "
            "ranks that are elsewhere");
  EXPECT_EQ(error_of(scheme("sync", "quorum = 2\n") + "[gradient]\nscaler = \"last_step\"\n"),
            "no error");
  EXPECT_EQ(message_of(scheme("sync", "quorum = 2\n") + shared),
            "\"gradient.scaler\" must be \"own\" or \"last_step\" with a quorum of 2: a rank "
            "cannot wait for scalers of ranks that are elsewhere");
}

TEST_F(SchemeKeysTest, WhatAWindowOrAnElasticRankCannotHaveIsSaid) {
  EXPECT_EQ(message_of(scheme("aeasgd") + "[gradient]\nerror_feedback = true\n"),
            "\"gradient.error_feedback\" is not for \"aeasgd\": what a codec leaves stays in the "
            "rank's parameters already");
  EXPECT_EQ(message_of(scheme("sagn") + "[optimizer]\ndecay_at = \"server\"\n"),
            "\"optimizer.decay_at\" = \"server\" would decay once for all steps of a window; with "
            "\"sagn\" it must be \"worker\"");
}

TEST_F(SchemeKeysTest, EachRefusalIsOfEverySchemeThatItIsAbout) {
  const auto refused = [&](const actors::SchemeFacts& facts, const std::string& key,
                           const std::string& lines, bool expected) {
    const std::string local = facts.elastic ? "[local_optimizer]\nname = \"gd\"\n" : "";
    const std::string said = message_of(scheme(std::string(facts.name)) + local + lines);
    EXPECT_EQ(said.starts_with("\"" + key + "\""), expected) << facts.name << ": " << said;
  };
  for (const actors::SchemeFacts& facts : actors::scheme_facts()) {
    const bool sync = facts.together && !facts.windows;
    for (const std::string down : {"average", "ternary"}) {
      refused(facts, "gradient.down", "[gradient]\nscaler = \"shared\"\ndown = \"" + down + "\"\n",
              !sync);
    }
    for (const std::string scaler : {"shared", "mean", "last_step"}) {
      refused(facts, "gradient.scaler", "[gradient]\nscaler = \"" + scaler + "\"\n",
              !facts.together);
    }
    refused(facts, "gradient.error_feedback", "[gradient]\nerror_feedback = true\n", facts.elastic);
    refused(facts, "optimizer.decay_at", "[optimizer]\ndecay_at = \"server\"\n", facts.windows);
  }
  for (const std::string scaler : {"shared", "mean"}) {
    EXPECT_THAT(
        message_of(scheme("sync", "quorum = 2\n") + "[gradient]\nscaler = \"" + scaler + "\"\n"),
        testing::StartsWith("\"gradient.scaler\" must be \"own\" or \"last_step\""));
  }
}

TEST_F(SchemeKeysTest, AVoteIsOfSignsAndOfNothingThatIsLeft) {
  const std::string vote = scheme("sync", "combine = \"vote\"\n");
  EXPECT_EQ(message_of(vote), "\"scheme.combine\" = \"vote\" is for \"gradient.codec\" = \"sign\"");
  EXPECT_EQ(message_of(vote + "[gradient]\ncodec = \"sign\"\nerror_feedback = true\n"),
            "\"gradient.error_feedback\" is not for \"scheme.combine\" = \"vote\": a rank does not "
            "know what its voice came to");
  EXPECT_EQ(message_of(vote + "[gradient]\ncodec = \"sign\"\n"), "no error");
}

TEST_F(SchemeKeysTest, EpochsCountWhatOneVersionTakes) {
  const auto per_version = [&](const std::string& lines) {
    const auto file = read(std::string(smallest) + "[[actor]]\nrole = \"worker\"\n" + lines);
    return actors::examples_per_version(file->scheme, file->job.batch, 2) / file->job.batch;
  };
  EXPECT_EQ(per_version(""), 2U);
  EXPECT_EQ(per_version(scheme("sync", "quorum = 1\n")), 1U);
  EXPECT_EQ(per_version(scheme("async")), 1U);
  EXPECT_EQ(per_version(scheme("agn", "window = 3\n")), 3U);
  EXPECT_EQ(per_version(scheme("sagn", "window = 3\n")), 6U);
}

ClusterFile config_file(const std::string& name) {
  return read_cluster_file(std::string(std::getenv("STERNA_SOURCE")) + "/configs/" + name).value();
}

TEST(Configs, SchlagsFilesGiveEachWorkerHisTwentyEpochs) {
  const auto updates_by_rank = [](const std::string& name, std::uint32_t ranks) {
    const ClusterFile file = config_file("schlag_" + name + ".toml");
    EXPECT_EQ(file.ranks(), ranks) << name;
    EXPECT_EQ(file.job.net, "schlag") << name;
    EXPECT_EQ(file.job.batch, 100U) << name;
    EXPECT_EQ(file.optimizer.learning_rate, 0.0005) << name;
    const bool together = file.scheme.name == "sync";  // all make each version
    return file.job.steps / (together ? 1 : ranks);
  };
  EXPECT_EQ(updates_by_rank("1_worker", 1), 20U * 550);
  EXPECT_EQ(updates_by_rank("2_workers", 2), 20U * 550);
  EXPECT_EQ(updates_by_rank("3_workers", 3), 20U * 550);
  EXPECT_EQ(updates_by_rank("sync", 3), 20U * 550);
  EXPECT_EQ(updates_by_rank("sync_sum", 3), 20U * 550);
  EXPECT_EQ(config_file("schlag_3_workers.toml").scheme.name, "async");
  EXPECT_EQ(config_file("schlag_sync_sum.toml").scheme.combine, actors::CombineRule::sum);
}

}  // namespace
}  // namespace sterna::launcher
