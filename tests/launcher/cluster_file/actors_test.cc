// What the keys of [[actor]]s and [[host]]s say together, and each mistake's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

TEST_F(ClusterFileTest, TwoActorsOfOneNameNameBothLines) {
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nname = \"w\"\n"
                          "[[actor]]\nrole = \"worker\"\nname = \"w\"\n"),
            "x.toml:18: two actors are named \"w\", here and at x.toml:15; give one of them "
            "another name");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nname = \"worker0\"\n"),
            "x.toml:15: two actors are named \"worker0\", here and at x.toml:4; give one of them "
            "another name");
  EXPECT_EQ(error_of_more("[[host]]\nname = \"a\"\n[[host]]\nname = \"a\"\n"),
            "x.toml:16: two hosts are named \"a\", here and at x.toml:14; give one of them another "
            "name");
}

TEST_F(ClusterFileTest, NamesBecomeFilesAndSocketsAndMustBePlain) {
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nname = \"../up\"\n"),
            "x.toml:15: \"actor.name\" must be 1 to 40 letters, digits, _, - or . and start with a "
            "letter or digit, not \"../up\"");
  EXPECT_EQ(
      error_of_more("[[actor]]\nrole = \"worker\"\nname = \"node\"\n"),
      "x.toml:15: the run itself may have a process named \"node\"; give the actor another name");
  EXPECT_THAT(error_of_more("[[actor]]\nrole = \"worker\"\nname = \"node-b\"\n"),
              HasSubstr("the run itself may have a process named \"node-b\""));
}

TEST_F(ClusterFileTest, EveryRoleIsNeededAndTheEvaluatorOnce) {
  std::string text = smallest;
  text.erase(text.find("[[actor]]\nrole = \"worker\"\n"), 26);
  EXPECT_EQ(error(text),
            "x.toml: no actor has the role \"worker\", which computes gradients; add [[actor]] "
            "with role = \"worker\"");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"evaluator\"\n"),
            "x.toml:13: a job has one evaluator, not 2");
  EXPECT_EQ(error_of_more("[[actor]]\ncount = 1\n"),
            "x.toml:13: the key \"actor.role\" is missing (or \"actor.type\", for a program's own "
            "actors)");
}

TEST_F(ClusterFileTest, RanksBelongToWorkers) {
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"input_reader\"\nranks = 2\n"),
            "x.toml:15: \"actor.ranks\" is for workers, not for the role \"input_reader\"");
  EXPECT_EQ(error_of_set("actor.worker.ranks=4096"), "no error");
}

TEST_F(ClusterFileTest, OnlyWorkersAndEvaluatorsComputeOnGpus) {
  const auto on_gpu = [&](const std::string& more) {
    return error_of_more("[[actor]]\nrole = \"worker\"\nbackend = \"cuda\"\n" + more);
  };
  EXPECT_EQ(on_gpu(""), "no error");
  EXPECT_EQ(read(smallest, {"actor.worker.backend=cuda"})->actors[1].backend, "cuda");
  EXPECT_EQ(read(smallest, {"actor.evaluator.backend=cuda"})->actors[3].backend, "cuda");
  EXPECT_EQ(error_of_set("actor.input_reader.backend=cuda"),
            "--set actor.input_reader.backend=cuda: only workers and evaluators compute on GPUs; "
            "remove \"actor.backend\" from the input reader");
  EXPECT_EQ(on_gpu("gpus = 2\nranks = 3\n[[host]]\ngpus = 2\n"), "no error");
  EXPECT_EQ(on_gpu("gpus = 3\nranks = 2\n[[host]]\ngpus = 3\n"),
            "x.toml:16: a worker of 2 ranks computes on as many GPUs at most, not on 3; set "
            "\"actor.ranks\" to 3 or more, or \"actor.gpus\" to 2");
  const std::string sees_none =
      "x.toml:15: \"worker1\" computes on GPUs and asks for none, and where a host has \"gpus\" "
      "actors see only what they are given; ";
  EXPECT_EQ(on_gpu("[[host]]\ngpus = 1\n"), sees_none + "set \"actor.gpus\" = 1");
  EXPECT_EQ(on_gpu("hosts = [\"a\"]\n[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\ngpus = 1\n"),
            sees_none + "name one in \"actor.devices\"");
  EXPECT_EQ(on_gpu("[summary]\ntensorboard = true\n"), "no error");
  EXPECT_EQ(on_gpu("[scheme]\nname = \"aeasgd\"\n[local_optimizer]\nname = \"gd\"\n"), "no error");
  EXPECT_EQ(error_of_set("actor.worker.backend=abacus"),
            "--set actor.worker.backend=abacus: \"actor.backend\" must be \"cpu\" or "
            "\"cuda\", not \"abacus\"");
}

TEST_F(ClusterFileTest, WhoHasGpusComputesOnThemUnlessTheFileSaysOtherwise) {
  const auto backend_of = [&](std::size_t actor, const std::vector<std::string>& sets) {
    const auto file = read(std::string(smallest) + "[[host]]\nname = \"a\"\ngpus = 2\n", sets);
    return file.ok() ? file->actors[actor].backend : file.error().message;
  };
  EXPECT_EQ(backend_of(1, {}), "cpu");
  EXPECT_EQ(backend_of(1, {"actor.worker.gpus=1"}), "cuda");
  EXPECT_EQ(backend_of(1, {"actor.worker.devices=[1]"}), "cuda");
  EXPECT_EQ(backend_of(1, {"actor.worker.gpus=1", "actor.worker.backend=cpu"}), "cpu");
  EXPECT_EQ(backend_of(3, {"actor.evaluator.gpus=1"}), "cuda");
  EXPECT_EQ(backend_of(0, {"actor.parameter_server.gpus=1"}), "cpu");
  EXPECT_EQ(backend_of(1, {"actor.worker.gpus=1", "job.precision=bf16"}), "cuda");
  EXPECT_EQ(backend_of(1, {"actor.worker.gpus=1", "job.precision=tf32"}), "cuda");
  EXPECT_EQ(backend_of(1, {"job.precision=tf32"}),
            "--set job.precision=tf32: job.precision = \"tf32\" is of GPUs, and no worker computes "
            "on one; set \"fp32\", or give the workers gpus");
  EXPECT_EQ(backend_of(3, {"actor.evaluator.gpus=2"}),
            "--set actor.evaluator.gpus=2: an evaluator computes on one GPU, not on 2; set 1");
}

TEST_F(ClusterFileTest, EachShardBelongsToOneInputReader) {
  const auto file = read(smallest, {"actor.input_reader.count=3", "actor.input_reader.shards=3"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->shards(), 3);
  EXPECT_EQ(file->actors[4].shard, 2);
  const auto again = parse_cluster_file(resolved(*file), path());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *file);
  EXPECT_EQ(error_of_set("actor.input_reader.shards=3"),
            "--set actor.input_reader.shards=3: 3 shards need as many input readers; "
            "\"actor.count\" is 1");
  EXPECT_EQ(error_of_set("actor.worker.shards=1"),
            "--set actor.worker.shards=1: \"actor.shards\" is for input readers, not for the role "
            "\"worker\"");
  EXPECT_THAT(error(std::string(smallest) + "[[actor]]\nrole = \"input_reader\"\nname = \"more\"\n",
                    {"actor.input_reader.shards=1"}),
              HasSubstr("with shards all input readers are of one [[actor]]"));
}

TEST_F(ClusterFileTest, HostsMustBeThisMachineAndKnown) {
  EXPECT_EQ(
      error_of_more("[[host]]\nname = \"far\"\naddress = \"192.0.2.1\"\n"),
      "x.toml:15: \"192.0.2.1\" is not an address of this machine; give the host its ssh, e.g. "
      "ssh = \"user@host\"");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\nhosts = [\"localhots\"]\n"),
            "x.toml:15: there is no host \"localhots\"; did you mean \"localhost\"?");
  EXPECT_EQ(error_of_more("[cluster]\nhead = \"x\"\n"),
            "x.toml:14: there is no host \"x\"; there is only localhost");
}

}  // namespace
}  // namespace sterna::launcher
