// The cluster file: what is read, and every mistake's line, word for word.
#include "launcher/cluster_file/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "cluster_file_fixture.h"
#include "launcher/cluster_file/keys.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(ClusterFileTest, TheSmallestFileGetsEveryDefault) {
  const auto file = read(smallest);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->cluster.name, "x");
  EXPECT_EQ(file->cluster.head, "localhost");
  EXPECT_EQ(file->cluster.heartbeat, 500ms);
  EXPECT_EQ(file->cluster.silence, 5s);
  EXPECT_FALSE(file->cluster.ports.has_value());
  ASSERT_EQ(file->hosts.size(), 1U);
  EXPECT_EQ(file->hosts[0].bind, "127.0.0.1");
  ASSERT_EQ(file->actors.size(), 4U);
  EXPECT_EQ(file->actors[0].name, "server0");
  EXPECT_EQ(file->actors[1].name, "worker0");
  EXPECT_EQ(file->actors[2].name, "reader0");
  EXPECT_EQ(file->actors[3].name, "evaluator0");
  EXPECT_EQ(file->ranks(), 1);
  EXPECT_EQ(file->job.steps, 200);
}

TEST_F(ClusterFileTest, CountsBecomeActorsWithNamesHostsAndRanks) {
  const auto file = read(std::string(smallest) + R"([[host]]
name = "a"
[[host]]
name = "b"
address = "127.0.0.2"
[[actor]]
role = "worker"
count = 2
ranks = 3
[[actor]]
role = "parameter_server"
count = 2
name = "shard"
hosts = ["b"]
)");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->actors.size(), 8U);
  const auto plan = [](ActorPlan as, std::uint32_t restarts) {
    as.restarts.times = restarts;
    return as;
  };
  EXPECT_EQ(file->actors[4], plan({"worker1", Role::kWorker, "a", 3, 1}, 5));
  EXPECT_EQ(file->actors[5], plan({"worker2", Role::kWorker, "b", 3, 4}, 5));
  EXPECT_EQ(file->actors[6], plan({"shard0", Role::kParameterServer, "b", 0, 0}, 5));
  EXPECT_EQ(file->actors[7], plan({"shard1", Role::kParameterServer, "b", 0, 0}, 5));
  EXPECT_EQ(file->ranks(), 7);
  EXPECT_EQ(file->count(Role::kParameterServer), 3);
}

TEST_F(ClusterFileTest, AProgramsActorIsStartedAgainOnlyWhereItsTableSaysSo) {
  const auto file = read(R"(format = 1
[program]
path = "x"
[[actor]]
type = "counter"
restart = 2
within = "1m"
backoff = "20ms"
[[actor]]
type = "sink"
)");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->actors.size(), 2U);
  EXPECT_EQ(file->actors[0].restarts, (RestartBudget{.times = 2, .within = 1min, .backoff = 20ms}));
  EXPECT_EQ(file->actors[1].restarts.times, 0U);
}

TEST_F(ClusterFileTest, TheResolvedFileHasEveryKeyAndReadsAsTheSame) {
  const auto file = read(std::string(smallest) + R"([[host]]
name = "here"
[cluster]
name = "odd"
ports = "40000-40010"
heartbeat = "1.5s"
security = "none"
[data]
dir = "/tmp/a \"quoted\"\t\u00e9 folder"
[optimizer]
learning_rate = 1e-5
weight_decay = 0
[[inject.delay]]
ranks = [5]
delay = "20ms"
[[inject.fault]]
at_step = 10
actor = "worker2"
kind = "kill"
)",
                         {"actor.worker.count=3", "actor.worker.ranks=2"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  const std::string text = resolved(*file);
  const auto again = read(text);
  ASSERT_TRUE(again.ok()) << again.error().message << text;
  EXPECT_EQ(*again, *file) << text;
  for (const std::string& name : key_names()) {
    if (name == "actor.type" || name == "actor.args") continue;  // not of these actors
    const std::string key = name.substr(name.rfind('.') + 1) + " = ";
    EXPECT_THAT("\n" + text, HasSubstr("\n" + key)) << name;
  }
}

TEST_F(ClusterFileTest, OverridesTakeTomlValuesAndBareWords) {
  const auto file = read(
      smallest, {"job.steps=30", "gradient.codec=none", "cluster.transport=\"tcp\"",
                 "optimizer.learning_rate=0.5", "gradient.logits=false", "data.dir=/tmp/some where",
                 "cluster.name=2024", "cluster.silence=9s", "actor.0.count=2",
                 "actor.worker.ranks=2", "host.localhost.address=127.0.0.3"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->job.steps, 30);
  EXPECT_EQ(file->gradient.codec, "none");
  EXPECT_EQ(file->cluster.transport, "tcp");
  EXPECT_EQ(file->optimizer.learning_rate, 0.5);
  EXPECT_FALSE(file->gradient.logits);
  EXPECT_EQ(file->data.dir, "/tmp/some where");
  EXPECT_EQ(file->cluster.name, "2024");
  EXPECT_EQ(file->cluster.silence, 9s);
  EXPECT_EQ(file->count(Role::kParameterServer), 2);
  EXPECT_EQ(file->ranks(), 2);
  EXPECT_EQ(file->hosts[0].address, "127.0.0.3");
}

TEST_F(ClusterFileTest, ARateIsASizeInASecond) {
  EXPECT_EQ(read(smallest)->cluster.slow_link.count, 0U);
  const auto file = read(smallest, {"cluster.slow_link=1.5MB/s"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->cluster.slow_link.count, 1'500'000U);
  EXPECT_EQ(read(resolved(*file))->cluster.slow_link, file->cluster.slow_link);
  EXPECT_EQ(read(smallest, {"cluster.slow_link="})->cluster.slow_link.count, 0U);
  for (const char* wrong : {"10MB", "10mbit/s", "/s", "MB/s"}) {
    EXPECT_NE(error(smallest, {std::string("cluster.slow_link=") + wrong})
                  .find("\"cluster.slow_link\" wants a rate such as \"10MB/s\", not the text"),
              std::string::npos)
        << wrong;
  }
}

TEST_F(ClusterFileTest, AnOverrideCanGiveAKeyThatTheFileLacks) {
  std::string text = smallest;
  text.erase(text.find("steps = 200"), 11);
  EXPECT_EQ(error(text), "x.toml:10: the key \"job.steps\" (or \"job.epochs\") is missing");
  EXPECT_TRUE(read(text, {"job.steps=5"}).ok());
}

TEST_F(ClusterFileTest, TheLengthOfAJobIsGivenInStepsOrInEpochs) {
  EXPECT_EQ(error_of_more("epochs = 2.5\n"),
            "x.toml:13: \"job.epochs\" stands in place of \"job.steps\"; remove one of them");
  std::string text = smallest;
  text.replace(text.find("steps = 200"), 11, "epochs = 2.5");
  const auto file = read(text);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->job.epochs, 2.5);
  const auto again = read(resolved(*file));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *file);
  const auto shorter = read(text, {"job.steps=5"});
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_EQ(shorter->job.epochs, 0);
  const auto longer = read(smallest, {"job.epochs=100"});
  ASSERT_TRUE(longer.ok()) << longer.error().message;
  EXPECT_EQ(longer->job.steps, 0U);
}

TEST_F(ClusterFileTest, AnUnknownKeyNamesItsLineAndTheNearestKey) {
  EXPECT_EQ(error_of_more("[optimizer]\nnme = \"gd\"\n"),
            "x.toml:14: unknown key \"optimizer.nme\"; did you mean \"optimizer.name\"?");
  EXPECT_EQ(error("optimiser.nme = \"gd\"\n" + std::string(smallest)),
            "x.toml:1: unknown key \"optimiser.nme\"; did you mean \"optimizer.name\"?");
  EXPECT_EQ(error_of_more("learning_rate = 0.1\n"),
            "x.toml:13: unknown key \"job.learning_rate\"; did you mean "
            "\"optimizer.learning_rate\"?");
  EXPECT_EQ(
      error_of_more("flavour = 1\n"),
      "x.toml:13: unknown key \"job.flavour\"; the keys of [job] are net, hidden, steps, epochs, "
      "batch, micro_batch, seed, threads, cpu_isa, precision");
  EXPECT_THAT(error_of_more("[data]\nformat = \"mnist\"\n"),
              AllOf(StartsWith("x.toml:14: unknown key \"data.format\"; the keys of [data] are "),
                    EndsWith("; that of the file stands before all tables")));
  EXPECT_EQ(error("formt = 1\n" + std::string(smallest)),
            "x.toml:1: unknown key \"formt\"; did you mean \"format\"?");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nrnks = 2\n"),
            "x.toml:15: unknown key \"actor.rnks\"; did you mean \"actor.ranks\"?");
  EXPECT_EQ(error_of_more("[evaluator]\nevery_steps = 2\n"),
            "x.toml:14: unknown key \"evaluator.every_steps\"; did you mean \"evaluator.every\"?")
      << "though another table has a key of that name";
}

TEST_F(ClusterFileTest, AnUnknownTableNamesTheNearestTable) {
  EXPECT_EQ(error_of_more("\n[optimiser]\nname = \"gd\"\n"),
            "x.toml:14: unknown table \"optimiser\"; did you mean \"optimizer\"?");
  EXPECT_EQ(error_of_more("[[actors]]\nrole = \"worker\"\n"),
            "x.toml:13: unknown table \"actors\"; did you mean \"actor\"?");
  EXPECT_THAT(error_of_more("[zebra]\nx = 1\n"),
              testing::StartsWith("x.toml:13: unknown table \"zebra\"; the tables are cluster, "));
}

TEST_F(ClusterFileTest, TablesAndListsOfTablesAreToldApart) {
  EXPECT_EQ(error_of_more("[host]\nname = \"a\"\n"),
            "x.toml:13: there may be several hosts; write [[host]], not [host]");
  EXPECT_EQ(error_of_more("[[data]]\nname = \"any\"\n"),
            "x.toml:13: there is one [data] only; write [data], not [[data]]");
  EXPECT_EQ(error("cluster = 5\n" + std::string(smallest)),
            "x.toml:1: \"cluster\" is a table; set one of its keys, see sterna help keys");
}

TEST_F(ClusterFileTest, AMicroBatchDividesTheBatch) {
  const std::string text(smallest);
  const auto wrong = read(text, {"job.batch=64", "job.micro_batch=24"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("\"job.micro_batch\" = 24 does not divide \"job.batch\" = 64, as 16 does"));
  EXPECT_TRUE(read(text, {"job.batch=64", "job.micro_batch=16"}).ok());
}

TEST_F(ClusterFileTest, Bf16NeedsTheInstructionsForIt) {
  const std::string text(smallest);
  const auto wrong = read(text, {"job.precision=bf16", "job.cpu_isa=avx2"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("\"job.precision\" = \"bf16\" needs instructions of the CPU that "
                        "\"job.cpu_isa\" = \"avx2\" leaves out: set that to \"best\", or "
                        "\"job.precision\" to \"fp32\", or give workers and evaluator gpus"));
  EXPECT_TRUE(read(text, {"job.precision=bf16", "job.cpu_isa=avx512"}).ok());
  const std::string worker = "actor.worker.backend=cuda";
  EXPECT_FALSE(read(text, {"job.precision=bf16", "job.cpu_isa=avx2", worker}).ok());
  EXPECT_TRUE(
      read(text, {"job.precision=bf16", "job.cpu_isa=avx2", worker, "actor.evaluator.backend=cuda"})
          .ok());
}

TEST_F(ClusterFileTest, KeysOfPicturesMustFitEachOther) {
  EXPECT_THAT(error_of_more("[data]\npreprocess = \"resize_crop\"\nmean = [0.5, 0.5]\n"),
              HasSubstr("\"data.mean\" wants three numbers, of red, green and blue, not 2"));
  EXPECT_THAT(error_of_more("[data]\npreprocess = \"resize_crop\"\ndeviation = [0.2, 0, 1]\n"),
              HasSubstr("\"data.deviation\" wants numbers; each must be above 0, not 0"));
  EXPECT_THAT(error_of_more("[data]\nmean = [0.5, 0.5, 0.5]\n"),
              HasSubstr("\"data.mean\" is for \"data.preprocess\" = \"resize_crop\", not for"));
  EXPECT_THAT(error_of_more("[data]\nchannels = 2\n"), HasSubstr("must be 1 or 3, not 2"));
  EXPECT_THAT(error_of_more("[data]\nname = \"mnist\"\ntrain_files = \"a*\"\n"),
              HasSubstr("patterns are for the data set \"tfrecord\", not for \"mnist\""));
  const auto file =
      read(smallest, {"data.preprocess=resize_crop", "data.mean=[0.485, 0.456, 0.406]",
                      "data.deviation=[0.229, 0.224, 0.225]"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->data.mean, (std::vector<double>{0.485, 0.456, 0.406}));
}

TEST_F(ClusterFileTest, WrongTypesSayWhatIsWanted) {
  EXPECT_EQ(error_of_more("batch = \"many\"\n"),
            "x.toml:13: \"job.batch\" wants an integer, not the text \"many\"");
  EXPECT_EQ(error_of_more("batch = 1.5\n"),
            "x.toml:13: \"job.batch\" wants an integer, not the number 1.5");
  EXPECT_EQ(error_of_more("cpu_isa = 2\n"),
            "x.toml:13: \"job.cpu_isa\" wants \"best\", \"avx512\", \"avx2\" or \"scalar\", not "
            "the integer 2");
  EXPECT_EQ(error_of_more("[data]\ndir = true\n"),
            "x.toml:14: \"data.dir\" wants text in quotes, not true");
  EXPECT_EQ(error_of_more("[gradient]\nlogits = \"yes\"\n"),
            "x.toml:14: \"gradient.logits\" wants true or false, not the text \"yes\"");
  EXPECT_EQ(error_of_more("[optimizer]\nlearning_rate = \"fast\"\n"),
            "x.toml:14: \"optimizer.learning_rate\" wants a number, not the text \"fast\"");
  EXPECT_EQ(error_of_more("[cluster]\nheartbeat = 5\n"),
            "x.toml:14: \"cluster.heartbeat\" wants a duration such as \"500ms\", \"5s\" or "
            "\"2m\", not the integer 5");
  EXPECT_EQ(error_of_more("[cluster]\nports = \"high-low\"\n"),
            "x.toml:14: \"cluster.ports\" wants \"any\" or a range such as \"40000-40100\", not "
            "the text \"high-low\"");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nhosts = \"localhost\"\n"),
            "x.toml:15: \"actor.hosts\" wants a list of names such as [\"a\", \"b\"], not the text "
            "\"localhost\"");
  EXPECT_EQ(error_of_more("seed = 2020-01-01\n"),
            "x.toml:13: \"job.seed\" wants an integer, not a date");
}

TEST_F(ClusterFileTest, NumbersOutOfRangeSayTheRange) {
  EXPECT_EQ(error_of_more("batch = 0\n"),
            "x.toml:13: \"job.batch\" must be at least 1 and at most 65536, not 0");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\ncount = -2\n"),
            "x.toml:15: \"actor.count\" must be at least 1 and at most 4096, not -2");
  EXPECT_EQ(error_of_more("[optimizer]\nmomentum = 1\n"),
            "x.toml:14: \"optimizer.momentum\" must be at least 0 and below 1, not 1");
  EXPECT_EQ(error_of_more("[optimizer]\nlearning_rate = 0.0\n"),
            "x.toml:14: \"optimizer.learning_rate\" must be above 0, not 0");
  EXPECT_EQ(error_of_more("[optimizer]\nlearning_rate = inf\n"),
            "x.toml:14: \"optimizer.learning_rate\" must be a finite number, not inf");
  EXPECT_EQ(error_of_more("[cluster]\nheartbeat = \"0s\"\n"),
            "x.toml:14: \"cluster.heartbeat\" must be at least 0.001 seconds, not \"0s\"");
  EXPECT_EQ(error_of_more("[deadlines]\nstep = \"0.0000001s\"\n"),
            "x.toml:14: \"deadlines.step\" must be at least 0.001 seconds, not \"0.0000001s\"");
}

TEST_F(ClusterFileTest, NumbersThatNothingHoldsAreOutOfRangeAndNoTexts) {
  EXPECT_EQ(error_of_set("job.seed=9223372036854775808"),
            "--set job.seed=9223372036854775808: \"job.seed\" is out of range: integers go from "
            "-9223372036854775808 to 9223372036854775807, not to 9223372036854775808");
  EXPECT_THAT(error_of_set("job.seed=1e400"), HasSubstr("\"job.seed\" is out of range: "));
  EXPECT_THAT(
      error_of_set("optimizer.learning_rate=1e400"),
      HasSubstr("is out of range: numbers go up to 3.4e38, and down to 1.4e-45, not to 1e400"));
  EXPECT_THAT(error_of_more("seed = 9223372036854775808\n"), HasSubstr("64"));
  EXPECT_THAT(error_of_more("[optimizer]\nlearning_rate = 1e400\n"),
              HasSubstr("'1e400' could not be interpreted as a value: it is out of range"));
  EXPECT_EQ(error_of_more("[deadlines]\nstep = \"1000000h\"\n"),
            "x.toml:14: \"deadlines.step\" must be at most a year (8784h), not \"1000000h\"");
}

TEST_F(ClusterFileTest, KeysOfAnotherOptimizerAreRefused) {
  EXPECT_EQ(error_of_more("[optimizer]\nname = \"adam\"\nmomentum = 0.5\n"),
            "x.toml:15: \"optimizer.momentum\" is for the optimizer \"momentum\", \"nesterov\" or "
            "\"rmsprop\", not for \"adam\"; remove it");
  EXPECT_EQ(error_of_more("[optimizer]\nbeta1 = 0.8\n"),
            "x.toml:14: \"optimizer.beta1\" is for the optimizer \"adam\" or \"adamw\", not for "
            "\"momentum\"; remove it");
  EXPECT_TRUE(
      read(std::string(smallest) + "[optimizer]\nname = \"rmsprop\"\nmomentum = 0.5\n").ok());
}

TEST_F(ClusterFileTest, WhatIsEvaluatedMustBeThere) {
  const auto error_of = [&](const std::string& keys) {
    return error_of_more("[evaluator]\n" + keys + "\n");
  };
  EXPECT_EQ(error_of("subsets = []"),
            "x.toml:14: \"evaluator.subsets\" must name \"test\", \"train\" or both");
  EXPECT_EQ(error_of("subsets = [\"test\", \"valid\"]"),
            "x.toml:14: \"evaluator.subsets\" knows \"test\" and \"train\", not \"valid\"");
  EXPECT_EQ(error_of("subsets = [\"train\", \"train\"]"),
            "x.toml:14: \"evaluator.subsets\" has \"train\" twice");
  EXPECT_EQ(
      error_of("subsets = \"test\""),
      "x.toml:14: \"evaluator.subsets\" wants a list of names such as [\"a\", \"b\"], not the text "
      "\"test\"");
  EXPECT_EQ(error_of("of = \"both\""),
            "x.toml:14: \"evaluator.of\" = \"both\" needs moving averages: set "
            "\"optimizer.average_decay\", e.g. to 0.999");
  EXPECT_EQ(error_of("of = \"raw\""),
            "x.toml:14: \"evaluator.of\" must be \"averages\", \"parameters\" or \"both\", not "
            "\"raw\"");
  EXPECT_EQ(error_of("behind = \"skp\""),
            "x.toml:14: \"evaluator.behind\" must be \"wait\" or \"skip\", not \"skp\"; did you "
            "mean \"skip\"?");
  EXPECT_EQ(error_of("every_seconds = -1"),
            "x.toml:14: \"evaluator.every_seconds\" must be at least 0 and at most 1000000000, not "
            "-1");
  EXPECT_EQ(error_of("train_examples = 0"),
            "x.toml:14: \"evaluator.train_examples\" must be at least 1, not 0");
  EXPECT_EQ(
      error(smallest, {"evaluator.subsets=[\"train\"]", "actor.input_reader.shards=1"}),
      "--set evaluator.subsets=[\"train\"]: \"evaluator.subsets\" = \"train\" needs the whole "
      "training set in one place, and \"actor.shards\" cuts it; remove one of them");
  EXPECT_TRUE(read(smallest, {"evaluator.of=both", "optimizer.average_decay=0.9",
                              "evaluator.every_seconds=2.5", "evaluator.behind=skip"})
                  .ok());
}

TEST_F(ClusterFileTest, AdamwDecaysAtTheServerOrNotAtAll) {
  const std::string adamw = "[optimizer]\nname = \"adamw\"\n";
  EXPECT_EQ(error_of_more(adamw),
            "x.toml:14: with the optimizer \"adamw\", which decays the weights apart from the "
            "gradient, \"optimizer.decay_at\" must be \"server\", or \"optimizer.weight_decay\" 0");
  EXPECT_TRUE(read(smallest + adamw + "decay_at = \"server\"\n").ok());
  EXPECT_TRUE(read(smallest + adamw + "weight_decay = 0\n").ok());
}

TEST_F(ClusterFileTest, InitNamesTensorsThatTheNetHas) {
  const std::string init = "[init]\nfrom = \"x.safetensors\"\n";
  EXPECT_EQ(error_of_more(init + "skip = [\"logitts\"]\n"),
            "x.toml:15: \"init.skip\": lenet has no tensor \"logitts\", nor any that begin with "
            "\"logitts/\"; did you mean \"logits\"?");
  EXPECT_EQ(error_of_more(init + "train_only = [\"fc3/weight\"]\n"),
            "x.toml:15: \"init.train_only\": lenet has no tensor \"fc3/weight\", nor any that "
            "begin with \"fc3/weight/\"; did you mean \"fc3/weights\"?");
  EXPECT_THAT(error_of_more(init + "skip = [\"conv\"]\n"),
              testing::HasSubstr("did you mean \"conv1\"?"));
  EXPECT_THAT(error_of_more(init + "skip = [\"something else\"]\n"),
              testing::HasSubstr("; sterna net show lenet lists them"));
  EXPECT_EQ(error_of_more("[init]\nskip = [\"logits\"]\n"),
            "x.toml:14: \"init.skip\" is for \"init.from\", which is missing");
  EXPECT_EQ(error_of_more("[init]\nnames = \"torchvision\"\n"),
            "x.toml:14: \"init.names\" is for \"init.from\", which is missing");
  EXPECT_EQ(error_of_more("[init]\ntrain_only = [\"logits\", \"fc3/biases\"]\n"), "no error");
}

TEST_F(ClusterFileTest, TorchvisionsInceptionNeedsTheNetThatItIs) {
  const std::vector<std::string> settings{"job.net=inception_v3", "init.from=x.safetensors",
                                          "init.names=torchvision"};
  EXPECT_THAT(error(smallest, settings),
              testing::HasSubstr("set \"net.bn_scale\" and \"net.pool_padding\" to true"));
}

TEST_F(ClusterFileTest, AWrongChoiceListsTheChoicesAndTheNearest) {
  EXPECT_EQ(error_of_more("[gradient]\ncodec = \"ternery\"\n"),
            "x.toml:14: \"gradient.codec\" must be \"none\", \"ternary\", \"ternary_entropy\", "
            "\"bf16\", \"rowwise\", \"sign\", \"topk\" or \"auto\", not \"ternery\"; did you mean "
            "\"ternary\"?");
}

TEST_F(ClusterFileTest, ASyntaxErrorNamesItsLine) {
  EXPECT_THAT(error("format = 1\n[job\nnet = \"lenet\"\n"),
              testing::StartsWith("x.toml:2: not valid TOML: "));
  EXPECT_THAT(error("format = 1\n[job]\nnet = lenet\n"),
              testing::StartsWith("x.toml:3: not valid TOML: "));
  EXPECT_THAT(error_of_more("steps = 4\n"), testing::StartsWith("x.toml:13: not valid TOML: "));
  EXPECT_THAT(error("format = 1\n[job\n"), Not(HasSubstr("\n")));
}

TEST_F(ClusterFileTest, AMissingFileAFolderAndAMissingFormatAreErrors) {
  const auto missing = read_cluster_file("no/such.toml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Errc::not_found);
  EXPECT_EQ(missing.error().message, "no/such.toml: there is no such file");
  EXPECT_FALSE(read_cluster_file("/").ok());
  std::string text = smallest;
  EXPECT_EQ(error(text.substr(11)),
            "x.toml: the key \"format\" is missing; such a file begins with format = 1");
  text[9] = '2';
  EXPECT_EQ(error(text), "x.toml:1: \"format\" must be 1, not 2");
}

TEST_F(ClusterFileTest, SilenceAndLeaseMustOutlastTheHeartbeat) {
  EXPECT_EQ(error_of_more("[cluster]\nheartbeat = \"4s\"\nlease = \"3s\"\n"),
            "x.toml:15: \"cluster.lease\" (3s) must be longer than \"cluster.heartbeat\" (4s), or "
            "every host stops its actors");
  EXPECT_EQ(error_of_more("[cluster]\nheartbeat = \"6s\"\n"),
            "x.toml:14: \"cluster.silence\" (5s) must be longer than \"cluster.heartbeat\" (6s), "
            "or every actor is taken for dead");
}

TEST_F(ClusterFileTest, WrongOverridesQuoteTheOverride) {
  EXPECT_EQ(error_of_set("gradient.cdec=none"),
            "--set gradient.cdec=none: unknown key \"gradient.cdec\"; did you mean "
            "\"gradient.codec\"?");
  EXPECT_EQ(error_of_set("gradint.codec=none"),
            "--set gradint.codec=none: unknown key \"gradint.codec\"; did you mean "
            "\"gradient.codec\"?");
  EXPECT_EQ(error_of_set("job.steps=-4"),
            "--set job.steps=-4: \"job.steps\" must be at least 1 and at most 1000000000, not -4");
  EXPECT_EQ(error_of_set("job.steps"),
            "--set job.steps: write it as key=value, e.g. --set job.steps=100");
  EXPECT_EQ(error_of_set("actor.count=2"),
            "--set actor.count=2: there may be several actors; say which: actor.NAME.count or "
            "actor.0.count");
  EXPECT_EQ(error_of_set("actor.wrker.count=2"),
            "--set actor.wrker.count=2: the file has no actor \"wrker\"; it has parameter_server, "
            "worker, input_reader, evaluator");
  EXPECT_EQ(error_of_set("steps=4"),
            "--set steps=4: unknown key \"steps\"; did you mean \"job.steps\"?");
  EXPECT_EQ(error_of_set("job.steps=1\njob.net=\"x\""),
            "--set job.steps=1 job.net=\"x\": \"job.steps\" wants an integer, not the text "
            "\"1\\u000Ajob.net=\\\"x\\\"\"");
}

TEST_F(ClusterFileTest, SeveralMistakesComeInTheOrderOfTheFile) {
  EXPECT_EQ(error_of_more("thread = 1\n[gradient]\nclip = -1\nmin_size = \"x\"\n"),
            "x.toml:13: unknown key \"job.thread\"; did you mean \"job.threads\"?\n"
            "x.toml:15: \"gradient.clip\" must be at least 0, not -1\n"
            "x.toml:16: \"gradient.min_size\" wants an integer, not the text \"x\"");
}

TEST(Configs, EveryFileInConfigsIsValid) {
  const char* source = std::getenv("STERNA_SOURCE");
  ASSERT_NE(source, nullptr);
  int files = 0;
  const std::string folder = std::string(source) + "/configs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    const auto file = read_cluster_file(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.error().message;
    ++files;
  }
  EXPECT_GE(files, 31);
}

ClusterFile config(const std::string& name) {
  return read_cluster_file(std::string(std::getenv("STERNA_SOURCE")) + "/configs/" + name).value();
}

TEST(Configs, Cluster4HostsSpreadsTheActorsThatItPromises) {
  const ClusterFile file = config("cluster_4_hosts.toml");
  ASSERT_EQ(file.hosts.size(), 4U);
  EXPECT_EQ(file.count(Role::kParameterServer), 2);
  EXPECT_EQ(file.count(Role::kInputReader), 2);
  EXPECT_EQ(file.ranks(), 4);
  EXPECT_EQ(file.job.batch * file.ranks(), 64);
  std::set<std::string> workers_hosts;
  for (const ActorPlan& actor : file.actors) {
    if (actor.role == Role::kWorker) workers_hosts.insert(actor.host);
  }
  EXPECT_EQ(workers_hosts.size(), 4U);
  for (const HostSection& host : file.hosts) EXPECT_FALSE(host.ssh.empty());
}

TEST(Configs, LocalToyIsOneServerAndTwoWorkersOverTcp) {
  const ClusterFile file = config("local_toy.toml");
  EXPECT_EQ(file.count(Role::kParameterServer), 1);
  EXPECT_EQ(file.count(Role::kWorker), 2);
  EXPECT_EQ(file.hosts.size(), 1U);
  EXPECT_TRUE(file.talks_tcp());
}

TEST(Configs, LenetMnistIsTheJobThatTheReadmePromises) {
  const ClusterFile file = config("lenet_mnist_10k.toml");
  EXPECT_EQ(file.ranks(), 4);
  EXPECT_EQ(file.job.batch * file.ranks(), 64);
}

TEST(Keys, TheHelpAndTheMarkdownTableNameEveryKey) {
  for (const std::string& key : key_names()) {
    EXPECT_THAT(keys_as_text(describe_keys()), HasSubstr("  " + key + " "));
    EXPECT_THAT(keys_as_markdown(describe_keys()), HasSubstr("| `" + key + "` |"));
  }
}

TEST(Keys, AreDescribedBySectionOrOneByOne) {
  const auto keys_of = [](std::string_view word) {
    std::vector<std::string> keys;
    const auto described = describe_keys(word);
    if (!described) return std::vector{described.error().message};
    for (const SectionDescription& section : *described) {
      for (const KeyDescription& key : section.keys) keys.push_back(key.key);
    }
    return keys;
  };
  EXPECT_THAT(keys_of("trace"), ElementsAre("trace.steps", "trace.most_bytes"));
  EXPECT_EQ(keys_of("[trace]"), keys_of("trace"));
  EXPECT_THAT(keys_of("[[inject.fault]]"), Contains("inject.fault.at_step"));
  EXPECT_THAT(keys_of("inject.fault"), Each(StartsWith("inject.fault.")));
  EXPECT_THAT(keys_of("job.net"), ElementsAre("job.net"));
  EXPECT_THAT(keys_of("format"), ElementsAre("format"));
  EXPECT_THAT(keys_of("job.nett"), ElementsAre("no section and no key is called \"job.nett\"; did "
                                               "you mean \"job.net\"?"));
  EXPECT_THAT(keys_of("gradiant"), ElementsAre(HasSubstr("did you mean \"gradient\"?")));
  EXPECT_THAT(keys_of("[]"), ElementsAre("no section and no key is called \"[]\""));
}

}  // namespace
}  // namespace sterna::launcher
