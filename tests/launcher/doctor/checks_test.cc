// What `sterna doctor` makes of what hosts say of themselves to a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "input/digits/digits.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "launcher/doctor/checks.h"
#include "launcher/doctor/facts.h"
#include "launcher/doctor/report.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {

void PrintTo(const Finding& finding, std::ostream* out) {
  *out << finding.host << " | " << finding.check << " | " << finding.wrong << " | " << finding.fix;
}

namespace {

using std::chrono::system_clock;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Libc, IsOlderByItsNumbers) {
  EXPECT_TRUE(older_libc("glibc 2.9", "glibc 2.36"));
  EXPECT_FALSE(older_libc("glibc 2.36", "glibc 2.36"));
  EXPECT_FALSE(older_libc("glibc 3.0", "glibc 2.36"));
  EXPECT_FALSE(older_libc("", "glibc 2.36"));
}

TEST(Finding, IsWhatIsWrongAndWhatFixesIt) {
  EXPECT_EQ(finding_of("b", "ssh", "b: no; neither; do this"),
            (Finding{"b", "ssh", "no; neither", "do this"}));
  EXPECT_EQ(finding_of("b", "ssh", "c: no"), (Finding{"b", "ssh", "c: no", ""}));
}

/// A host b where all is well, and what it says.
class HostCheck : public testing::Test {
 protected:
  HostCheck() {
    HostSection a;
    a.name = "a";
    a.ssh = "a";
    a.address = a.bind = "10.0.0.1";
    HostSection b = a;
    b.name = b.ssh = "b";
    b.address = b.bind = "10.0.0.2";
    file.hosts = {a, b};
    file.cluster.ports = PortRange{40000, 40009};
    file.data.name = "mnist";
    program = {"x86_64", "glibc 2.36", "abc", "sterna", 1000};
  }

  /// Each line in place of those of its word.
  std::vector<Finding> check(const std::string& replaced = "", const std::string& line = "") {
    const std::vector<std::pair<std::string, std::string>> all = {
        {"ready", ""},           {"clock", "1000.000000000"},
        {"arch", "x86_64"},      {"libc", "glibc 2.36"},
        {"memory", "8000000"},   {"work", ""},
        {"disk", "9000000"},     {"address", "127.0.0.1"},
        {"address", "10.0.0.2"}, {"listens", "0200000A:0016"}};
    ShellAnswer answer;
    for (const auto& [word, value] : all) {
      if (word != replaced) answer.output += "STERNA " + word + " " + value + "\n";
    }
    answer.output += line + "\nSTERNA done\n";
    answer.exit = ProcessExit{0};
    answer.asked = system_clock::time_point(std::chrono::seconds(999));
    answer.answered = system_clock::time_point(std::chrono::seconds(1001));
    return check_host(file, file.hosts[1], program, {"b", "b", ""}, answer);
  }
  /// The only finding.
  Finding only(const std::string& replaced, const std::string& line) {
    const std::vector<Finding> found = check(replaced, line);
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? Finding{} : found.front();
  }

  ClusterFile file;
  ShippedProgram program;
};

TEST_F(HostCheck, FindsNothingWhereAllIsWell) { EXPECT_THAT(check(), IsEmpty()); }

TEST_F(HostCheck, NamesANoisyLoginShell) {
  ShellAnswer answer;
  answer.output = "Welcome\nSTERNA ready\nSTERNA arch x86_64\nSTERNA work\nSTERNA done\n";
  const auto found = check_host(file, file.hosts[1], program, {"b", "b", ""}, answer);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].check, "shell");
  EXPECT_THAT(found[0].wrong, HasSubstr("\"Welcome\""));
}

TEST_F(HostCheck, AClockIsOffByWhatTheTwoMomentsLeaveNoDoubtAbout) {
  EXPECT_THAT(check("clock", "STERNA clock 1001.900000000"), IsEmpty());
  EXPECT_THAT(only("clock", "STERNA clock 1011.000000000").wrong, HasSubstr("10.0 s ahead of"));
  EXPECT_THAT(only("clock", "STERNA clock 899.000000000").wrong, HasSubstr("100.0 s behind"));
  EXPECT_THAT(check("clock", "STERNA clock 997"), IsEmpty());
}

TEST_F(HostCheck, NamesAnotherProcessorOrAnOlderLibrary) {
  EXPECT_EQ(only("arch", "STERNA arch aarch64").check, "arch");
  EXPECT_EQ(only("libc", "STERNA libc glibc 2.31").check, "libc");
  EXPECT_EQ(only("libc", "STERNA libc musl libc (x86_64)").check, "libc");
}

TEST_F(HostCheck, NamesTooLittleMemoryOrDisk) {
  EXPECT_EQ(only("memory", "STERNA memory 1000").check, "memory");
  EXPECT_EQ(only("disk", "STERNA disk 64").check, "disk");
  EXPECT_EQ(only("work", "STERNA unwritable mkdir: no").check, "work");
}

TEST_F(HostCheck, NamesAnAddressToBindThatIsNotItsOwn) {
  file.hosts[1].bind = "10.0.0.9";
  const Finding finding = only("", "");
  EXPECT_EQ(finding.check, "bind");
  EXPECT_THAT(finding.fix, HasSubstr("10.0.0.2"));
}

TEST_F(HostCheck, NamesANameToBindThatIsTheHostsOwnLoop) {
  file.hosts[1].bind = "b";
  const Finding finding = only("", "STERNA name b 127.0.1.1");
  EXPECT_EQ(finding.check, "bind");
  EXPECT_THAT(finding.wrong, HasSubstr("127.0.1.1"));
}

TEST_F(HostCheck, NamesTooFewFreePorts) {
  std::string lines;
  for (const char* port :
       {"9C40", "9C41", "9C42", "9C43", "9C44", "9C45", "9C46", "9C47", "9C48"}) {
    lines += std::string("STERNA listens 00000000:") + port + "\n";
  }
  const Finding finding = only("listens", lines);
  EXPECT_EQ(finding.check, "ports");
  EXPECT_THAT(finding.wrong, HasSubstr("40000-40009 1 are free"));
}

TEST_F(HostCheck, NamesDataThatAReaderWouldMiss) {
  ActorPlan reader;
  reader.role = Role::kInputReader;
  reader.host = "b";
  file.actors = {reader};
  EXPECT_THAT(check("", "STERNA data /data"), IsEmpty());
  EXPECT_THAT(only("", "STERNA lacks /data: t10k-images").wrong, HasSubstr("/data: t10k-images"));
  EXPECT_THAT(only("", "STERNA drawn\nSTERNA data /data").wrong, HasSubstr("drawn digits"));
}

TEST_F(HostCheck, LooksForADataSetThatNobodyDrawsAlsoWhereTheRunIsStarted) {
  file.hosts[0].name = file.cluster.head = "here";
  file.hosts[0].ssh.clear();
  ActorPlan reader;
  reader.role = Role::kInputReader;
  reader.host = "here";
  file.actors = {reader};
  const auto asked = [&] { return facts_question(file, file.hosts[0], program).data; };
  for (const char* name : {"mnist", "cifar10"}) {
    file.data.name = name;
    EXPECT_EQ(asked(), name);
  }
  file.data.name = input::kAnyDataSet;
  EXPECT_EQ(asked(), "");
}

TEST_F(HostCheck, NamesWeightsThatAServerWouldMiss) {
  ActorPlan server;
  server.role = Role::kParameterServer;
  server.host = "b";
  file.actors = {server};
  file.init.from = "/weights/vgg.npz";
  EXPECT_EQ(facts_question(file, file.hosts[1], program).init, "/weights/vgg.npz");
  EXPECT_EQ(facts_question(file, file.hosts[0], program).init, "");
  const Finding found = only("", "STERNA no-init");
  EXPECT_EQ(found.wrong, "it has no /weights/vgg.npz, which init.from names");
  EXPECT_EQ(found.fix, "scp /weights/vgg.npz b:/weights/vgg.npz, or correct init.from");
  file.init.from = "/runs/a/checkpoints/step-000000007";
  EXPECT_EQ(only("", "STERNA no-init").fix,
            "scp -r /runs/a/checkpoints/step-000000007 b:/runs/a/checkpoints/step-000000007, or "
            "correct init.from");
}

TEST_F(HostCheck, NamesAShardThatIsNotItsReaders) {
  ActorPlan reader;
  reader.role = Role::kInputReader;
  reader.host = "b";
  file.actors = {reader};
  const std::string shard_0 = "STERNA shard 0 2\nSTERNA data /data";
  EXPECT_THAT(only("", shard_0).wrong,
              HasSubstr("/data is shard-0-of-2, and its readers want the whole training set"));
  file.actors[0].shards = 2;
  EXPECT_THAT(check("", shard_0), IsEmpty());
  EXPECT_THAT(check("", "STERNA data /data"), IsEmpty());
  file.actors[0].shard = 1;
  EXPECT_THAT(only("", shard_0).wrong, HasSubstr("its readers want shard-1-of-2"));
  EXPECT_THAT(only("", "STERNA lacks /data: t10k").wrong, HasSubstr("t10k; nor is shard-1-of-2"));
  file.actors[0].role = Role::kEvaluator;
  file.actors[0].shards = 0;
  EXPECT_THAT(check("", shard_0), IsEmpty());
}

/// What this machine's shell says of a folder.
class DataOfAHost : public testing::Test {
 protected:
  DataOfAHost() {
    EXPECT_TRUE(input::make_digits(path("whole"), {.seed = 1, .train = 8, .test = 2}).ok());
    EXPECT_TRUE(input::split_data(path("whole"), 2, path("parts")).ok());
    question.work = path("work");
    question.program = "sterna";
    question.data = "mnist";
  }
  HostFacts ask(const std::string& in, std::vector<std::string> shards, bool any = false) {
    question.data_folder = path(in);
    question.shards = std::move(shards);
    question.any_shard = any;
    std::ofstream(path("script")) << facts_script(question);
    std::FILE* pipe = popen(("echo | { . " + path("script") + "; }").c_str(), "r");
    std::string output;
    std::array<char, 4096> chunk;
    while (const std::size_t got = fread(chunk.data(), 1, chunk.size(), pipe)) {
      output.append(chunk.data(), got);
    }
    pclose(pipe);
    return parse_host_facts(output);
  }
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }

  TemporaryFolder folder;
  FactsQuestion question;
};

TEST_F(DataOfAHost, IsWhatHasTheFilesOfTheSetThatIsNamedOrOfAny) {
  std::filesystem::create_directories(path("ten"));
  std::ofstream(path("ten/data_batch_1.bin")) << "x";
  std::filesystem::create_directories(path("photos/train"));
  EXPECT_EQ(ask("ten", {}).data_found, "");
  question.data = "cifar10";
  EXPECT_THAT(ask("ten", {}).data_missing, HasSubstr("ten: data_batch_2.bin"));
  question.data = "any";
  EXPECT_EQ(ask("ten", {}).data_found, path("ten"));
  EXPECT_EQ(ask("photos", {}).data_found, path("photos"));
  EXPECT_EQ(ask("whole", {}).data_found, path("whole"));
  std::filesystem::create_directories(path("empty"));
  EXPECT_EQ(ask("empty", {}).data_found, "");
}

TEST_F(DataOfAHost, OfAnyNamesIsToldByItsSigns) {
  std::filesystem::create_directories(path("photos/train"));
  std::filesystem::create_directories(path("records"));
  std::ofstream(path("records/flowers_train_00000-of-00001.tfrecord")) << "x";
  question.data = "pictures";
  EXPECT_THAT(ask("photos", {}).data_missing, HasSubstr("photos: val|valid|validation|test"));
  std::filesystem::create_directories(path("photos/test"));
  EXPECT_EQ(ask("photos", {}).data_found, path("photos"));
  question.data = "tfrecord";
  EXPECT_THAT(ask("records", {}).data_missing, HasSubstr("records: *validation*"));
  std::ofstream(path("records/flowers_val_00000-of-00001.tfrecord")) << "x";
  EXPECT_EQ(ask("records", {}).data_found, path("records"));
}

TEST_F(DataOfAHost, IsAWholeSetOrTheShardsOfItsReaders) {
  EXPECT_EQ(ask("whole", {}).data_found, path("whole"));
  EXPECT_EQ(ask("whole", {"shard-1-of-2"}).data_found, path("whole"));
  EXPECT_EQ(ask("parts", {"shard-1-of-2"}).data_found, path("parts/shard-1-of-2"));
  EXPECT_NE(ask("parts", {"shard-0-of-2", "shard-1-of-2"}).data_found, "");
  EXPECT_EQ(ask("parts", {"shard-0-of-2", "shard-2-of-3"}).data_found, "");
  EXPECT_EQ(ask("parts", {}).data_found, "");
  EXPECT_THAT(ask("parts", {}).data_missing, HasSubstr("parts: train-images-idx3-ubyte"));
  EXPECT_EQ(ask("parts", {}, true).data_found, path("parts/shard-0-of-2"));
  const HostFacts shard = ask("parts/shard-1-of-2", {"shard-0-of-2"});
  EXPECT_EQ(shard.data_found, path("parts/shard-1-of-2"));
  EXPECT_EQ(shard.data_shard, "shard-1-of-2");
  EXPECT_TRUE(shard.data_is_drawn);
}

TEST_F(DataOfAHost, AlsoHasWeightsByTheirNameOrInItsFolderOfData) {
  question.init = path("vgg.npz");
  EXPECT_TRUE(ask("whole", {}).init_missing);
  std::ofstream(path("whole/vgg.npz")) << "x";
  EXPECT_FALSE(ask("whole", {}).init_missing);
  question.init = path("model.ckpt-7");
  EXPECT_TRUE(ask("whole", {}).init_missing);
  std::ofstream(path("model.ckpt-7.index")) << "x";
  EXPECT_FALSE(ask("whole", {}).init_missing);
}

TEST_F(HostCheck, NamesFewerGpusThanDeclared) {
  file.hosts[1].gpus = 2;
  EXPECT_THAT(check("", "STERNA gpus 2"), IsEmpty());
  EXPECT_EQ(only("", "STERNA gpus 1").check, "gpus");
}

TEST_F(HostCheck, NamesADriverOrACardThatCannotComputeForItsActors) {
  EXPECT_THAT(check("", "STERNA driver 580.65.06\nSTERNA capability 9.0"), IsEmpty());
  EXPECT_THAT(check("", "STERNA driver 580.65.06\nSTERNA capability "), IsEmpty());
  EXPECT_THAT(only("", "STERNA driver ").wrong, HasSubstr("there is no NVIDIA driver"));
  EXPECT_THAT(only("", "STERNA driver 570.86.15").wrong, HasSubstr("driver is 570.86.15"));
  EXPECT_THAT(only("", "STERNA driver 590.1\nSTERNA capability 7.5").wrong,
              HasSubstr("compute capability 7.5"));
}

/// Where a worker of b computes on cards.
class HostCheckOfGpus : public HostCheck {
 protected:
  HostCheckOfGpus() {
    file.job.net = "lenet";
    file.actors = {worker("worker0", {0})};
    program.has_module = program.ships_module = true;
  }
  static ActorPlan worker(const std::string& name, const std::vector<std::int64_t>& devices) {
    ActorPlan actor;
    actor.name = name;
    actor.host = "b";
    actor.role = Role::kWorker;
    actor.backend = "cuda";
    actor.devices = devices;
    return actor;
  }
  FactsQuestion asked(std::size_t host = 1) {
    return facts_question(file, file.hosts[host], program);
  }
  /// The only finding, which is a hint.
  Finding only_hint(const std::string& line) {
    const Finding finding = only("", line);
    EXPECT_TRUE(finding.hint);
    return finding;
  }
};

TEST_F(HostCheckOfGpus, AsksForADriverAndLibrariesWhereACardComputes) {
  EXPECT_TRUE(asked().cuda);
  EXPECT_FALSE(asked(0).cuda);
  EXPECT_THAT(asked(0).libraries, IsEmpty());
  ASSERT_THAT(asked().libraries, SizeIs(2));
  EXPECT_THAT(asked().libraries[0], ElementsAre("libcublasLt.so.13"));
  EXPECT_EQ(asked().libraries[1].back(), "libcudnn.so.9");
  file.job.net = "mlp";
  EXPECT_THAT(asked().libraries, SizeIs(1)) << "it has no convolutions";
  file.hosts[1].cuda = {"/opt/cudnn"};
  EXPECT_THAT(asked().environment, ElementsAre("STERNA_CUDA=/opt/cudnn"));
  file.actors[0].backend = "cpu";
  EXPECT_FALSE(asked().cuda);
  EXPECT_THAT(asked().libraries, IsEmpty());
}

TEST_F(HostCheckOfGpus, NamesAProgramWithoutTheModule) {
  EXPECT_THAT(check(), IsEmpty());
  program.ships_module = false;
  EXPECT_EQ(only("", "").check, "module");
  EXPECT_THAT(only("", "").wrong, HasSubstr("libsterna_cuda.so is not in the bundle"));
  file.hosts[1].ssh.clear();
  EXPECT_THAT(check(), IsEmpty());
  program.has_module = false;
  EXPECT_THAT(only("", "").wrong, HasSubstr("libsterna_cuda.so is not beside the program"));
  file.actors[0].backend = "cpu";
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(HostCheckOfGpus, NamesLibrariesThatAreNotThereOrNotWhole) {
  const Finding none = only("", "STERNA misses libcublasLt.so.13 ");
  EXPECT_EQ(none.check, "libraries");
  EXPECT_EQ(none.wrong, "actor.backend is \"cuda\", and libcublasLt.so.13 is not there");
  EXPECT_THAT(none.fix, HasSubstr("install CUDA 13, or name its folder in host.cuda"));
  const Finding half = only("", "STERNA misses libcudnn.so.9 /opt lacks libcudnn_adv.so.9");
  EXPECT_THAT(half.wrong, HasSubstr("libcudnn.so.9 is not there with all its parts: /opt lacks "
                                    "libcudnn_adv.so.9"));
  EXPECT_THAT(half.fix, HasSubstr("install cuDNN 9"));
}

TEST_F(HostCheckOfGpus, HintsAtCardsOfOneActorThatDoNotReadEachOther) {
  const std::string rows =
      "STERNA peers 0 GPU1\tGPU2\nSTERNA peers 0 X\tOK\tCNS\t\nSTERNA peers 1 OK\tX\tOK\n"
      "STERNA peers 2 CNS\tOK\tX";
  EXPECT_FALSE(asked().peers);
  file.actors = {worker("worker0", {0, 0, 1})};
  EXPECT_TRUE(asked().peers);
  EXPECT_THAT(check("", rows), IsEmpty());
  file.actors = {worker("worker0", {0, 2})};
  const Finding hint = only_hint(rows);
  EXPECT_EQ(hint.check, "peers");
  EXPECT_THAT(hint.wrong, HasSubstr("worker0 computes on the cards 0, 2, which do not all read "
                                    "each other's memory (0 of 2: CNS, 2 of 0: CNS)"));
  EXPECT_THAT(hint.fix, HasSubstr("ssh b nvidia-smi topo -p2p r"));
  EXPECT_THAT(check("", "STERNA peers 0 X\tOK"), IsEmpty()) << "nobody knows";
}

TEST_F(HostCheckOfGpus, HintsAtMpsWhereActorsShareACard) {
  EXPECT_FALSE(asked().mps);
  file.actors = {worker("worker0", {0, 1}), worker("worker1", {1})};
  EXPECT_TRUE(asked().mps);
  EXPECT_THAT(check("", "STERNA mps yes"), IsEmpty());
  const Finding hint = only_hint("STERNA mps no");
  EXPECT_EQ(hint.check, "mps");
  EXPECT_THAT(hint.wrong, HasSubstr("worker0, worker1 share card 1"));
  EXPECT_EQ(hint.fix, "ssh b nvidia-cuda-mps-control -d");
  file.actors = {worker("worker0", {}), worker("worker1", {})};
  EXPECT_TRUE(asked().mps) << "each takes the first that it sees";
}

TEST_F(HostCheck, NamesAProcessorThatCannotComputeInThePrecision) {
  EXPECT_THAT(check("", "STERNA bf16 yes"), IsEmpty());
  EXPECT_EQ(only("", "STERNA bf16 no").check, "precision");
  const Finding slow = only("", "STERNA bf16 slow");
  EXPECT_TRUE(slow.hint);
  EXPECT_EQ(slow.check, "precision");
  EXPECT_THAT(slow.wrong, HasSubstr("takes longer than fp32"));
}

TEST_F(HostCheck, AsksForBf16WhereItIsComputed) {
  ActorPlan actor;
  actor.host = "b";
  actor.role = Role::kWorker;
  file.actors = {actor};
  EXPECT_FALSE(facts_question(file, file.hosts[1], program).bf16);
  file.job.precision = actors::Precision::bf16;
  EXPECT_TRUE(facts_question(file, file.hosts[1], program).bf16);
  EXPECT_FALSE(facts_question(file, file.hosts[0], program).bf16);
  file.actors[0].backend = "cuda";
  EXPECT_FALSE(facts_question(file, file.hosts[1], program).bf16) << "a card computes with it";
  file.actors[0].backend = "cpu";
  file.actors[0].role = Role::kParameterServer;
  EXPECT_FALSE(facts_question(file, file.hosts[1], program).bf16);
}

TEST_F(HostCheck, NamesAProcessorWithoutTheInstructionsThatTheFileWants) {
  ActorPlan actor;
  actor.host = "b";
  actor.role = Role::kParameterServer;
  file.actors = {actor};
  const auto asked = [&](std::size_t host) {
    return facts_question(file, file.hosts[host], program).cpu_flags;
  };
  EXPECT_THAT(asked(1), IsEmpty());
  file.job.cpu_isa = "avx512";
  EXPECT_THAT(asked(1), Contains("avx512bw"));
  EXPECT_THAT(asked(0), IsEmpty()) << "nothing of the job runs there";
  const Finding found = only("", "STERNA without avx512f\nSTERNA without avx512bw");
  EXPECT_EQ(found.check, "cpu_isa");
  EXPECT_THAT(found.wrong, HasSubstr("\"avx512\", and its processor has no avx512f, avx512bw"));
}

TEST_F(HostCheck, NamesALogoutThatEndsProcesses) {
  EXPECT_EQ(only("", "STERNA kills b true\nSTERNA Linger=no").check, "linger");
  EXPECT_THAT(check("", "STERNA kills b true\nSTERNA Linger=yes"), IsEmpty());
  EXPECT_THAT(check("", "STERNA kills b false\nSTERNA Linger=no"), IsEmpty());
}

TEST_F(HostCheck, OfASpareHostThatDoesNotAnswerThereIsAHint) {
  file.hosts[1].spare = true;
  ShellAnswer answer;
  answer.errors = "ssh: connect to host b port 22: No route to host\n";
  answer.exit = ProcessExit{255};
  const auto found = check_host(file, file.hosts[1], program, {"b", "b", ""}, answer);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].check, "ssh");
  EXPECT_TRUE(found[0].hint);
  EXPECT_THAT(found[0].wrong,
              HasSubstr("No route to host (it is a spare, and need not answer yet)"));
  file.hosts[1].spare = false;
  EXPECT_FALSE(check_host(file, file.hosts[1], program, {"b", "b", ""}, answer)[0].hint);
}

TEST_F(HostCheck, AHostThatDoesNotAnswerHasOneFinding) {
  ShellAnswer answer;
  answer.errors = "root@b: Permission denied (password).\n";
  answer.exit = ProcessExit{255};
  const auto found = check_host(file, file.hosts[1], program, {"b", "b", ""}, answer);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].check, "ssh");
  EXPECT_EQ(found[0].fix, "let a key in: ssh-copy-id b");
  answer.exit.reset();
  EXPECT_THAT(check_host(file, file.hosts[1], program, {"b", "b", ""}, answer)[0].wrong,
              HasSubstr("within 30s"));
}

}  // namespace
}  // namespace sterna::launcher
