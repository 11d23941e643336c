// Hosts, resources and programs of the cluster file: what is read, and every mistake's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster_file_fixture.h"
#include "launcher/cluster_file/placement.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ClusterHostsTest : public ClusterFileTest {
 protected:
  /// `text` reads, and its resolved text reads as the same.
  ClusterFile round_trip(const std::string& text, std::vector<std::string> overrides = {}) {
    const auto file = read(text, std::move(overrides));
    if (!file.ok()) {
      ADD_FAILURE() << file.error().message;
      return {};
    }
    const std::string again_text = resolved(*file);
    const auto again = read(again_text);
    EXPECT_TRUE(again.ok()) << again.error().message << again_text;
    if (again.ok()) {
      EXPECT_EQ(*again, *file) << again_text;
    }
    return *file;
  }
};

constexpr const char* two_hosts = R"([[host]]
name = "a"
ssh = "me@node1"
[[host]]
name = "b"
ssh = "ssh://node2.lan:2200"
bind = "10.0.0.2"
cpus = 8
gpus = 2
memory = "64GB"
labels = ["fast", "ssd"]
data = "~/mnist"
work = "/scratch/me"
env = { PATH_OF = "a \"b\"", N = "1" }
)";

TEST_F(ClusterHostsTest, AHostHasAnAddressByItsSshAndKeepsWhatItSays) {
  const ClusterFile file = round_trip(std::string(smallest) + two_hosts);
  ASSERT_EQ(file.hosts.size(), 2U);
  EXPECT_EQ(file.hosts[0].address, "node1");
  EXPECT_EQ(file.hosts[0].bind, "node1");
  EXPECT_EQ(file.hosts[0].work, "~/.cache/sterna");
  const HostSection& b = file.hosts[1];
  EXPECT_EQ(b.address, "node2.lan");
  EXPECT_EQ(b.bind, "10.0.0.2");
  EXPECT_EQ(b.memory.count, 64'000'000'000U);
  EXPECT_THAT(b.labels, ElementsAre("fast", "ssd"));
  EXPECT_EQ(b.env.at("PATH_OF"), "a \"b\"");
  EXPECT_EQ(b.env.at("N"), "1");
  EXPECT_TRUE(file.manages_gpus());
  EXPECT_TRUE(file.talks_tcp());
}

TEST_F(ClusterHostsTest, HostsTalkTcpAndWhoSharesOneIpcUnlessToldOtherwise) {
  const std::string several = std::string(smallest) + two_hosts;
  EXPECT_EQ(round_trip(several).cluster.transport, "mixed");
  EXPECT_EQ(round_trip(several, {"cluster.transport=ipc"}).cluster.transport, "mixed");
  EXPECT_EQ(round_trip(several, {"cluster.transport=tcp"}).cluster.transport, "tcp");
  EXPECT_EQ(round_trip(smallest, {"cluster.placer=slurm"}).cluster.transport, "mixed");
  const ClusterFile one = round_trip(smallest, {"cluster.transport=mixed"});
  EXPECT_EQ(one.cluster.transport, "mixed");
  EXPECT_TRUE(one.talks_tcp());
  EXPECT_EQ(round_trip(smallest).cluster.transport, "ipc");
}

TEST_F(ClusterHostsTest, TheHeadIsTheFirstHostThatIsThisMachine) {
  EXPECT_EQ(round_trip(std::string(smallest) + two_hosts).cluster.head, "");
  EXPECT_EQ(round_trip(std::string(smallest) + two_hosts + "[[host]]\nname = \"c\"\n").cluster.head,
            "c");
  EXPECT_EQ(round_trip(std::string(smallest) + two_hosts, {"cluster.head=b"}).cluster.head, "b");
  EXPECT_EQ(round_trip(std::string(smallest) + two_hosts, {"cluster.placer=join"}).cluster.head,
            "a");
}

TEST_F(ClusterHostsTest, TheHeadIsNoSpareHost) {
  const std::string third = std::string(smallest) + two_hosts + "[[host]]\nname = \"c\"\n";
  EXPECT_EQ(round_trip(third + "spare = true\n").cluster.head, "");
  EXPECT_EQ(
      error(smallest + std::string("[[host]]\nname = \"c\"\nspare = true\n"), {"cluster.head=c"}),
      "x.toml:15: \"c\" is the head, which the run needs from the start; remove the key, or "
      "name another head");
}

TEST_F(ClusterHostsTest, WithTheLocalPlacerSshCountsForNothing) {
  const ClusterFile file = round_trip(
      std::string(smallest) + "[[host]]\nname = \"a\"\nssh = \"far\"\n", {"cluster.placer=local"});
  EXPECT_EQ(file.hosts[0].address, "127.0.0.1");
  EXPECT_EQ(file.cluster.head, "a");
}

TEST_F(ClusterHostsTest, AnAddressMustBeOneAndWithoutSshOfThisMachine) {
  EXPECT_EQ(
      error_of_more("[[host]]\nname = \"far\"\naddress = \"192.0.2.1\"\n"),
      "x.toml:15: \"192.0.2.1\" is not an address of this machine; give the host its ssh, e.g. "
      "ssh = \"user@host\"");
  EXPECT_EQ(error_of_more("[[host]]\nssh = \"n\"\nbind = \"0.0.0.0\"\n"),
            "x.toml:15: \"0.0.0.0\" would open the run's ports on every network that the host is "
            "in; name the one address that the other hosts reach");
  EXPECT_THAT(error_of_more("[[host]]\nssh = \"n\"\nbind = \"*\"\n"), HasSubstr("every network"));
  EXPECT_THAT(error_of_more("[[host]]\nssh = \"n\"\naddress = \"::\"\n"),
              HasSubstr("x.toml:15: \"::\" would open"));
  EXPECT_EQ(error_of_more("[[host]]\nssh = \"n\"\naddress = \"a b\"\n"),
            "x.toml:15: \"a b\" is neither an address nor a name");
  EXPECT_EQ(error_of_more("[[host]]\nssh = \"-oProxyCommand=x\"\n"),
            "x.toml:14: \"host.ssh\" wants one destination of ssh, such as \"user@host\"; options "
            "belong into ~/.ssh/config");
  EXPECT_THAT(error_of_more("[[host]]\nssh = \"a -p 22\"\n"), HasSubstr("one destination"));
}

TEST_F(ClusterHostsTest, TwoMachinesCannotHaveOneAddress) {
  EXPECT_EQ(
      error_of_more("[[host]]\nname = \"a\"\nssh = \"n1\"\naddress = \"192.0.2.1\"\n"
                    "[[host]]\nname = \"b\"\nssh = \"n2\"\naddress = \"192.0.2.1\"\n"),
      "x.toml:20: the hosts \"a\" and \"b\" have the address 192.0.2.1; give each the one under "
      "which the others reach it");
}

TEST_F(ClusterHostsTest, FoldersOfAHostAreAbsoluteOrInItsHome) {
  EXPECT_EQ(error_of_more("[[host]]\ndata = \"mnist\"\n"),
            "x.toml:14: \"host.data\" wants a path that begins with / or ~/, not \"mnist\"");
  EXPECT_EQ(error_of_more("[[host]]\nwork = \"\"\n"),
            "x.toml:14: \"host.work\" wants a path that begins with / or ~/, not \"\"");
  EXPECT_EQ(error_of_more("[[host]]\nwork = \"/scratch/$(id -un)\"\n"),
            "x.toml:14: \"host.work\" is read by the host's shell, which would take "
            "\"/scratch/$(id -un)\" for something else: use letters, digits and / . _ - + , @ ~");
  EXPECT_THAT(error_of_more("[[host]]\nwork = \"/my runs\"\n"), HasSubstr("host's shell"));
  for (const std::string folder : {"~/cudnn", "cudnn", "/opt/a:/opt/b"}) {
    EXPECT_EQ(error_of_more("[[host]]\ncuda = [\"/opt/cuda\", \"" + folder + "\"]\n"),
              "x.toml:14: \"host.cuda\" wants folders whose paths begin with / and hold no colon, "
              "not \"" +
                  folder + "\"");
  }
}

TEST_F(ClusterHostsTest, SizesLabelsAndVariablesSayWhatIsWanted) {
  EXPECT_EQ(error_of_more("[[host]]\nmemory = \"64 gigs\"\n"),
            "x.toml:14: \"host.memory\" wants a size such as \"64GB\" or \"512MB\", not the text "
            "\"64 gigs\"");
  EXPECT_EQ(
      error_of_more("[[host]]\nmemory = 64\n"),
      "x.toml:14: \"host.memory\" wants a size such as \"64GB\" or \"512MB\", not the integer "
      "64");
  EXPECT_EQ(
      error_of_more("[[host]]\nlabels = [\"a b\"]\n"),
      "x.toml:14: \"host.labels\" wants names; each must be 1 to 40 letters, digits, _, - or . "
      "and start with a letter or digit, not \"a b\"");
  EXPECT_EQ(
      error_of_more("[[host]]\nenv = { \"1X\" = \"y\" }\n"),
      "x.toml:14: \"host.env\" has \"1X\", which cannot be a variable's name: letters, digits "
      "and _, and no digit first");
  EXPECT_EQ(error_of_more("[[host]]\nenv = { X = 1 }\n"),
            "x.toml:14: \"host.env\" wants text for X, not the integer 1");
  EXPECT_EQ(
      error_of_more("[[actor]]\nrole = \"worker\"\ndevices = [0, -1]\n"),
      "x.toml:15: \"actor.devices\" wants integers; each must be at least 0 and at most 1023, "
      "not -1");
  EXPECT_EQ(error_of_more("[[actor]]\nrole = \"worker\"\ndevices = [[0], [1]]\n"),
            "x.toml:15: \"actor.devices\" wants a list of integers; a list is none");
}

TEST_F(ClusterHostsTest, AnActorAsksForHostsOrForResources) {
  const std::string worker = "[[host]]\nname = \"h\"\ncpus = 4\n[[actor]]\nrole = \"worker\"\n";
  EXPECT_EQ(error_of_more(worker + "hosts = [\"h\"]\ncpus = 1\n"),
            "x.toml:19: \"actor.cpus\" chooses among hosts, and \"actor.hosts\" has chosen; remove "
            "one of them");
  EXPECT_THAT(error_of_more(worker + "hosts = [\"h\"]\npolicy = \"pack\"\n"),
              HasSubstr("\"actor.policy\" chooses among hosts, and"));
  EXPECT_EQ(error_of_more(worker + "policy = \"pack\"\n"),
            "x.toml:18: \"actor.policy\" chooses among hosts that have what is asked for; ask for "
            "cpus, gpus, memory or labels too");
  EXPECT_EQ(error_of_more(worker + "gpus = 2\ndevices = [0]\nbackend = \"cpu\"\n"),
            "x.toml:19: 1 devices are too few for 2 gpus per actor");
  EXPECT_EQ(error_of_more(worker + "hosts = [\"h\"]\nmemory = \"4GB\"\n"), "no error");
}

TEST_F(ClusterHostsTest, WhatNobodyHasIsAMistakeOfItsLine) {
  EXPECT_EQ(error_of_more("[[host]]\nname = \"h\"\nlabels = [\"fast\"]\n[[actor]]\nrole = "
                          "\"worker\"\nlabels = [\"fats\"]\n"),
            "x.toml:18: \"worker1\" asks for the label \"fats\", which no host has; did you mean "
            "\"fast\"?");
  EXPECT_EQ(
      error_of_more("[[host]]\nname = \"h\"\ncpus = 4\n[[actor]]\nrole = \"worker\"\ncount = "
                    "2\ncpus = 3\n"),
      "x.toml:16: \"worker2\" asks for 3 cpus, and no host has that free; the best, \"h\" has "
      "1 of 4 cpus free; ask for less, or add a host");
  EXPECT_EQ(
      error_of_more("[[actor]]\nrole = \"worker\"\ndevices = [1]\n"),
      "x.toml:15: \"worker1\" wants gpu 1 of \"localhost\", which has none; give that host its "
      "gpus");
}

TEST_F(ClusterHostsTest, ARangeOfPortsHasTwoForEachProcess) {
  EXPECT_EQ(error_of_more("[cluster]\ntransport = \"tcp\"\nports = \"40000-40012\"\n"),
            "x.toml:15: 13 ports are too few for the 7 processes on \"localhost\"; they need 14");
  EXPECT_EQ(error_of_more("[cluster]\ntransport = \"tcp\"\nports = \"40000-40013\"\n"), "no error");
  EXPECT_EQ(error_of_more("[cluster]\nports = \"40000-40001\"\n"), "no error") << "ipc needs none";
  const std::string hosts =
      "[[host]]\nname = \"a\"\nssh = \"n1\"\n[[host]]\nname = \"b\"\nssh = \"n2\"\n";
  EXPECT_EQ(error_of_more(hosts + "[cluster]\nports = \"40000-40009\"\n"), "no error");
  EXPECT_EQ(error_of_more(hosts + "[cluster]\nports = \"40000-40008\"\n"),
            "x.toml:20: 9 ports are too few for the 5 processes on \"a\"; they need 10");
  EXPECT_EQ(error_of_more("[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[cluster]\ntransport = "
                          "\"tcp\"\nports = \"40000-40014\"\n"),
            "x.toml:19: 15 ports are too few for the 8 processes on \"a\", \"b\"; they need 16");
}

TEST_F(ClusterHostsTest, WithSlurmTheHostsComeLater) {
  const ClusterFile file = round_trip(
      std::string(smallest) + "[[actor]]\nrole = \"worker\"\ncpus = 2\n", {"cluster.placer=slurm"});
  EXPECT_TRUE(file.hosts.empty());
  EXPECT_FALSE(file.placed());
  EXPECT_EQ(file.cluster.head, "");
  EXPECT_EQ(file.ranks(), 2);

  HostSection small, big;
  small.name = "n1";
  small.cpus = 1;
  big.name = "n2";
  big.cpus = 4;
  const auto placed = place(file, {small, big});
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_TRUE(placed->placed());
  EXPECT_EQ(placed->cluster.head, "n1");
  EXPECT_EQ(placed->actors[4].host, "n2");
  EXPECT_EQ(placed->actors[4].first_rank, 1);
  EXPECT_EQ(resolved(*placed), resolved(file)) << "the run again, in another allocation";
  EXPECT_EQ(
      place(file, {small}).error().message,
      "\"worker1\" asks for 2 cpus, and no host has that free; the best, \"n1\" has 1 of 1 cpus "
      "free; ask for less, or add a host");

  EXPECT_EQ(
      error(std::string(smallest) + "[cluster]\nplacer = \"slurm\"\nhead = \"x\"\n[[host]]\nname "
                                    "= \"a\"\n[[actor]]\nrole = \"worker\"\nhosts = [\"a\"]\n"),
      "x.toml:15: with placer = \"slurm\" the head is the allocation's first host; remove the "
      "key\n"
      "x.toml:16: with placer = \"slurm\" the hosts are those of its allocation; remove the "
      "[[host]] tables\n"
      "x.toml:20: with placer = \"slurm\" nobody knows the hosts yet; ask for cpus, gpus or "
      "memory instead");
}

constexpr const char* program = R"(format = 1
[program]
path = "./counting"
[[actor]]
type = "counter"
count = 2
args = { limit = 10, "a key" = { x = [1, 2.5, "t:,{\"}\u0001", true], b = [] } }
[[actor]]
type = "sink"
)";

TEST_F(ClusterHostsTest, AProgramHasActorsOfItsOwnTypesAndNoJob) {
  const ClusterFile file = round_trip(program);
  ASSERT_EQ(file.actors.size(), 3U);
  EXPECT_FALSE(file.trains());
  EXPECT_EQ(file.program.path, "./counting");
  EXPECT_EQ(file.actors[0].name, "counter0");
  EXPECT_EQ(file.actors[1].name, "counter1");
  EXPECT_EQ(file.actors[1].type, "counter");
  EXPECT_EQ(file.actors[1].role, Role::kNone);
  EXPECT_EQ(file.actors[1].args_json,
            R"({"a key":{"b":[],"x":[1,2.5,"t:,{\"}\u0001",true]},"limit":10})");
  EXPECT_EQ(file.actors[2].name, "sink0");
  EXPECT_EQ(file.actors[2].args_json, "{}");
}

std::string done_when(const std::string& words) {
  return "format = 1\n[program]\ndone_when = [" + words + "]\n" +
         std::string(program).substr(std::string(program).find("path"));
}

TEST_F(ClusterHostsTest, ARunIsDoneWhenAllActorsHaveEndedOrThoseThatAreNamed) {
  EXPECT_THAT(round_trip(program).awaited(), ElementsAre("counter0", "counter1", "sink0"));
  EXPECT_THAT(round_trip(done_when("\"sink\"")).awaited(), ElementsAre("sink0"));
  EXPECT_THAT(round_trip(done_when("\"sink\", \"counter1\"")).awaited(),
              ElementsAre("counter1", "sink0"));
  EXPECT_THAT(round_trip(done_when("\"counter\"")).awaited(), ElementsAre("counter0", "counter1"));
  EXPECT_THAT(round_trip(done_when("\"last\"") + "name = \"last\"\n").awaited(),
              ElementsAre("last"));
}

TEST_F(ClusterHostsTest, AWordOfDoneWhenIsAnActors) {
  EXPECT_EQ(error(done_when("\"sink\", \"conter\"")),
            "x.toml:3: \"program.done_when\": no actor has the name or type \"conter\"; did you "
            "mean \"counter\"?");
  EXPECT_EQ(error(done_when("\"everyone\"")),
            "x.toml:3: \"program.done_when\": no actor has the name or type \"everyone\"; there "
            "are counter, counter0, counter1, sink, sink0");
  EXPECT_EQ(error_of_more("[program]\ndone_when = [\"worker\"]\n"),
            "x.toml:14: \"program.done_when\" is for a program's own actors; training is done with "
            "its last evaluation; remove it");
}

TEST_F(ClusterHostsTest, RolesAndTypesDoNotMixYet) {
  EXPECT_EQ(error(std::string(program) +
                  "[[actor]]\nrole = \"worker\"\n[job]\nnet = \"lenet\"\nsteps = 1\n"),
            "x.toml:5: actors with a type and training roles do not go together yet; write a file "
            "for each\n"
            "x.toml:9: actors with a type and training roles do not go together yet; write a file "
            "for each");
  EXPECT_EQ(error(std::string(program) + "role = \"worker\"\n[job]\nnet = \"lenet\"\nsteps = 1\n"),
            "x.toml:5: actors with a type and training roles do not go together yet; write a file "
            "for each\n"
            "x.toml:9: an actor has a role in training or a type of the program, not both; remove "
            "one");
  EXPECT_EQ(error(std::string(program) + "[job]\nnet = \"lenet\"\nsteps = 1\n"),
            "x.toml:10: [job] is for the training roles, and no actor has one; remove it");
  EXPECT_EQ(error(std::string(program) + "ranks = 2\n"),
            "x.toml:10: \"actor.ranks\" is for workers, not for types of the program");
  EXPECT_EQ(
      error_of_more("[[actor]]\nrole = \"worker\"\nargs = { a = 1 }\n"),
      "x.toml:15: \"actor.args\" is for types of the program; the role \"worker\" takes what it "
      "needs from [job] and the tables after it");
  EXPECT_EQ(error(std::string(program) + "args = { when = 2020-01-01 }\n"),
            "x.toml:10: \"actor.args\" cannot have a date; write it as text in quotes");
}

TEST_F(ClusterHostsTest, HiddenLayersAreTheMlps) {
  const std::string mlp =
      std::string(smallest).replace(std::string(smallest).find("lenet"), 5, "mlp");
  EXPECT_THAT(round_trip(mlp).job.hidden, ElementsAre(300, 100));
  EXPECT_THAT(round_trip(mlp, {"job.hidden=[4096, 512]"}).job.hidden, ElementsAre(4096, 512));
  EXPECT_TRUE(round_trip(mlp, {"job.hidden=[]"}).job.hidden.empty());
  EXPECT_TRUE(round_trip(smallest).job.hidden.empty());
  EXPECT_EQ(error_of_more("hidden = [10]\n"),
            "x.toml:13: \"job.hidden\" is for the net \"mlp\", not for \"lenet\"");
  EXPECT_EQ(error(mlp + "hidden = [0]\n"),
            "x.toml:13: \"job.hidden\" wants integers; each must be at least 1 and at most 65536, "
            "not 0");
}

}  // namespace
}  // namespace sterna::launcher
