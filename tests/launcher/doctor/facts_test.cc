// What a host says of itself, read from what a shell may print, and asked of this machine's shell.
#include "launcher/doctor/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "launcher/hosts/host_shell.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Socket, OfVersionFourIsItsAddressAndPort) {
  EXPECT_EQ(parse_socket("0100007F:1F90"), (Listening{"127.0.0.1", 8080}));
  EXPECT_EQ(parse_socket("00000000:0016"), (Listening{"0.0.0.0", 22}));
}

TEST(Socket, OfVersionSixIsItsAddressAndPort) {
  EXPECT_EQ(parse_socket("00000000000000000000000001000000:0050"), (Listening{"::1", 80}));
  EXPECT_EQ(parse_socket("000080FE00000000FF00020201000000:FFFF")->port, 65535);
}

TEST(Socket, OfAnotherShapeIsNone) {
  for (const char* text : {"", "0100007F", "0100007F:", "100007F:1F90", "0100007F:1F90F",
                           "0100007G:1F90", "local_address", ":1F90"}) {
    EXPECT_FALSE(parse_socket(text)) << text;
  }
}

TEST(Inet6, IsAnAddress) {
  EXPECT_EQ(parse_inet6("fe800000000000000000000000000001"), "fe80::1");
  EXPECT_FALSE(parse_inet6("fe80"));
  EXPECT_FALSE(parse_inet6("xx800000000000000000000000000001"));
}

TEST(HostClock, HasAFractionWhereDateKnowsIt) {
  bool fraction = false;
  EXPECT_NEAR(*parse_clock("1700000000.500000000", fraction), 1700000000.5, 1e-6);
  EXPECT_TRUE(fraction);
  for (const char* text : {"1700000000.", "1700000000.N", "1700000000.%N", "1700000000"}) {
    EXPECT_EQ(parse_clock(text, fraction), 1700000000.0) << text;
    EXPECT_FALSE(fraction);
  }
  EXPECT_FALSE(parse_clock("noon", fraction));
}

TEST(HostFacts, NoiseIsWhatComesBeforeOurFirstWord) {
  EXPECT_EQ(parse_host_facts("Hello\nWorld\nSTERNA ready\nSTERNA done\n").noise, "Hello");
  EXPECT_EQ(parse_host_facts("Hello STERNA ready\nSTERNA done\n").noise, "Hello");
  const HostFacts quiet = parse_host_facts("STERNA ready\nlater\nSTERNA done\n");
  EXPECT_EQ(quiet.noise, "");
  EXPECT_TRUE(quiet.complete);
  EXPECT_FALSE(parse_host_facts("STERNA ready\n").complete);
}

TEST(HostFacts, ANameThatNobodyKnowsIsThereWithoutAddress) {
  const HostFacts facts = parse_host_facts(
      "STERNA name b\nSTERNA name c\nSTERNA name c 10.0.0.3\nSTERNA name c 10.0.0.3\n");
  EXPECT_THAT(facts.names.at("b"), IsEmpty());
  EXPECT_THAT(facts.names.at("c"), ElementsAre("10.0.0.3"));
}

/// The script's answer of this machine.
class FactsOfThisMachine : public testing::Test {
 protected:
  HostFacts facts(const FactsQuestion& question) {
    const ShellQuestion shell{"here", "", facts_script(question)};
    return parse_host_facts(ask_shells(machine_, {shell}, 20s).front().output);
  }
  /// A question about a work folder of the test's own, and what `more` adds to it.
  template <class More>
  FactsQuestion asking(More more) const {
    FactsQuestion question;
    question.work = folder_.path();
    more(question);
    return question;
  }
  TemporaryFolder folder_;
  RealMachine machine_{[](std::string_view) {}};
};

TEST_F(FactsOfThisMachine, AreItsProcessorItsClockAndItsAddresses) {
  utsname self{};
  ASSERT_EQ(::uname(&self), 0);
  const HostFacts here = facts(asking([](FactsQuestion&) {}));
  EXPECT_TRUE(here.complete);
  EXPECT_EQ(here.noise, "");
  EXPECT_EQ(here.arch, self.machine);
  EXPECT_NEAR(here.clock.value_or(0), static_cast<double>(std::time(nullptr)), 60);
  EXPECT_THAT(here.addresses, Contains("127.0.0.1"));
  EXPECT_GT(here.memory_free.value_or(0), 0U);
  EXPECT_FALSE(here.gpus.has_value());
}

TEST_F(FactsOfThisMachine, KnowWhetherItsProcessorComputesWithBf16) {
  EXPECT_FALSE(facts(asking([](FactsQuestion&) {})).bf16.has_value());
  const HostFacts here = facts(asking([](FactsQuestion& question) { question.bf16 = true; }));
  EXPECT_EQ(here.bf16, __builtin_cpu_supports("avx512bf16") != 0);
  if (!__builtin_cpu_is("intel")) {
    EXPECT_FALSE(here.slow_bf16);
  }
}

TEST_F(FactsOfThisMachine, KnowWhichInstructionsItsProcessorDoesNotHave) {
  const HostFacts here = facts(asking([](FactsQuestion& question) {
    question.cpu_flags = {"fpu", "avx2", "no_such_flag"};
  }));
  EXPECT_THAT(here.missing_cpu_flags, Contains("no_such_flag"));
  EXPECT_THAT(here.missing_cpu_flags, Not(Contains("fpu")));
  EXPECT_EQ(std::ranges::count(here.missing_cpu_flags, "avx2"),
            __builtin_cpu_supports("avx2") != 0 ? 0 : 1);
}

TEST_F(FactsOfThisMachine, KnowWhetherItHasADriver) {
  EXPECT_FALSE(facts(asking([](FactsQuestion&) {})).driver.has_value());
  const HostFacts here = facts(asking([](FactsQuestion& question) { question.cuda = true; }));
  EXPECT_TRUE(here.complete);
  ASSERT_TRUE(here.driver.has_value());
  EXPECT_EQ(here.driver->empty(), !std::filesystem::exists("/proc/driver/nvidia/version"));
}

/// A PATH whose first folder is `folder`, for as long as this lives.
class FirstInPath {
 public:
  explicit FirstInPath(const std::string& folder) : path_(std::getenv("PATH")) {
    setenv("PATH", (folder + ":" + path_).c_str(), 1);
  }
  ~FirstInPath() { setenv("PATH", path_.c_str(), 1); }
  FirstInPath(const FirstInPath&) = delete;
  FirstInPath& operator=(const FirstInPath&) = delete;

 private:
  std::string path_;
};

void write_program(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

TEST_F(FactsOfThisMachine, KnowHowItsCardsReadEachOther) {
  write_program(folder_ / "bin/nvidia-smi", R"sh(#!/bin/sh
[ "$*" = "topo -p2p r" ] || exit 1
printf ' \tGPU0\tGPU1\t\n GPU0\tX\tNS\t\n GPU1\tNS\tX\t\n\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n'
)sh");
  const FirstInPath fake(folder_ / "bin");
  const HostFacts here = facts(asking([](FactsQuestion& question) { question.peers = true; }));
  EXPECT_TRUE(here.complete);
  ASSERT_EQ(here.peers.size(), 2U);
  EXPECT_THAT(here.peers.at(0), ElementsAre("X", "NS"));
  EXPECT_THAT(here.peers.at(1), ElementsAre("NS", "X"));
  EXPECT_FALSE(here.mps.has_value());
}

TEST_F(FactsOfThisMachine, KnowWhetherMpsRuns) {
  const auto ask = [&] {
    return facts(asking([](FactsQuestion& question) { question.mps = true; })).mps;
  };
  const FirstInPath fake(folder_ / "bin");
  write_program(folder_ / "bin/ps", "#!/bin/sh\necho sh; echo nvidia-cuda-mps\n");
  EXPECT_EQ(ask(), true);
  write_program(folder_ / "bin/ps", "#!/bin/sh\necho sh\n");
  EXPECT_EQ(ask(), false);
}

TEST_F(FactsOfThisMachine, KnowWhichLibrariesAreNowhereWithAllTheirParts) {
  const auto put = [&](const std::string& folder, const std::vector<std::string>& names) {
    std::filesystem::create_directories(folder_ / folder);
    for (const std::string& name : names) std::ofstream(folder_ / folder / name) << "a library";
  };
  const std::string path = (folder_ / "a venv/bin").string() + ":" + std::getenv("PATH");
  const auto missing = [&] {
    return facts(asking([&](FactsQuestion& question) {
             question.libraries = {{"libone.so.1", "libtwo.so.1"}, {"libone.so.1"}, {"libm.so.6"}};
             question.environment = {"STERNA_CUDA=/none:" + (folder_ / "half a").string(),
                                     "HOME=" + (folder_ / "home").string(), "PATH=" + path};
           }))
        .missing_libraries;
  };
  using Missing = std::map<std::string, std::string>;
  EXPECT_EQ(missing(), (Missing{{"libone.so.1", ""}, {"libtwo.so.1", ""}}));
  put("half a", {"libone.so.1"});
  const std::string lacks = (folder_ / "half a").string() + " lacks libtwo.so.1";
  EXPECT_EQ(missing(), (Missing{{"libtwo.so.1", lacks}}));

  const std::vector<std::string> both = {"libone.so.1", "libtwo.so.1"};
  const std::string wheel = "/lib/python3.12/site-packages/nvidia/some/lib";
  put("home/.local" + wheel, both);
  EXPECT_EQ(missing(), Missing{});
  std::filesystem::remove_all(folder_ / "home");
  put("a venv" + wheel, both);
  EXPECT_EQ(missing(), (Missing{{"libtwo.so.1", lacks}})) << "of no python3 in PATH";
  write_program(folder_ / "a venv/bin/python3", "#!/bin/sh\n");
  EXPECT_EQ(missing(), Missing{});
}

TEST_F(FactsOfThisMachine, KnowWhetherItsWorkFolderCanBeWritten) {
  const HostFacts writable = facts(asking([](FactsQuestion&) {}));
  EXPECT_TRUE(writable.work_writable);
  EXPECT_GT(writable.disk_free.value_or(0), 0U);
  const HostFacts not_writable =
      facts(asking([](FactsQuestion& q) { q.work = std::string("/proc/none/at/all"); }));
  EXPECT_FALSE(not_writable.work_writable);
  EXPECT_NE(not_writable.work_error, "");
}

TEST_F(FactsOfThisMachine, HaveTheAddressesOfNames) {
  const HostFacts here = facts(asking([](FactsQuestion& q) {
    q.names = {"localhost", "no-such-host.invalid"};
  }));
  EXPECT_THAT(here.names.at("localhost"), Not(IsEmpty()));
  EXPECT_THAT(here.names.at("no-such-host.invalid"), IsEmpty());
}

TEST_F(FactsOfThisMachine, KnowWhichBundlesAreThere) {
  const FactsQuestion question = asking([](FactsQuestion& q) {
    q.bundle_hash = std::string("abc");
    q.program = std::string("sterna");
  });
  EXPECT_FALSE(facts(question).has_bundle);
  const auto bin = folder_ / "bundles/abc/bin";
  std::filesystem::create_directories(bin);
  std::ofstream(bin / "sterna") << "a program";
  std::filesystem::permissions(bin / "sterna", std::filesystem::perms::owner_all);
  EXPECT_TRUE(facts(question).has_bundle);
}

}  // namespace
}  // namespace sterna::launcher
