// sterna doctor on hosts where one thing at a time is broken: the row that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/cluster/cluster_hosts.h"
#include "tests/end_to_end/sterna_program.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Json = nlohmann::json;

constexpr Duration kPatience = seconds(90);

/// Reads and evaluators on c, where data are missing unless they are drawn.
constexpr const char* kActors = R"(
[[actor]]
role = "parameter_server"
hosts = ["a"]
[[actor]]
role = "worker"
count = 2
hosts = ["a", "b"]
[[actor]]
role = "input_reader"
hosts = ["c"]
[[actor]]
role = "evaluator"
hosts = ["c"]
[job]
net = "lenet"
steps = 10
[deadlines]
host = "20s"
start = "30s"
)";

class Doctor : public testing::Test {
 protected:
  void SetUp() override {
    hosts_.emplace(3);
    STERNA_NEEDS_HOSTS(*hosts_);
    environment_ = hosts_->launcher_environment();
    // The archive of the program takes long to make, and is the same for all of these tests.
    const auto cache = std::filesystem::path(std::getenv("STERNA_BINARY")).parent_path() / "cache";
    environment_.push_back("XDG_CACHE_HOME=" + cache.string());
  }
  ClusterHosts& hosts() { return *hosts_; }

  /// `of_host`: lines for the [[host]] table of each; its address if there is none.
  std::string write(const std::string& cluster = "head = \"a\"",
                    const std::map<std::string, std::string>& of_host = {},
                    const std::string& data = "name = \"digits\"") {
    std::ofstream file(hosts().launcher_folder() + "/job.toml");
    file << "format = 1\n[cluster]\nports = \"40000-40099\"\n" << cluster << "\n";
    for (const std::string& host : hosts().names()) {
      const auto own = of_host.find(host);
      file << "[[host]]\nname = \"" << host << "\"\nssh = \"" << host << "\"\n"
           << (own == of_host.end() ? "address = \"" + hosts().address(host) + "\"" : own->second)
           << "\n";
    }
    file << "[data]\n" << data << "\n" << kActors;
    return "job.toml";
  }

  std::unique_ptr<SternaProgram> start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "doctor");
    return std::make_unique<SternaProgram>(hosts().launcher_folder(), std::move(arguments),
                                           environment_);
  }
  /// What it says with --json; it must end with 1 if it found something, else with 0.
  Json examine(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto doctor = start(arguments);
    const auto code = doctor->exit_code(kPatience);
    Json said = Json::parse(doctor->out(), nullptr, false);
    EXPECT_TRUE(said.is_object()) << doctor->story();
    if (!said.is_object()) return Json{{"findings", Json::array()}};
    EXPECT_EQ(code, said["findings"].empty() ? 0 : 1) << doctor->story();
    return said;
  }
  /// The only row; all null if there are more or none.
  Json only_row(const std::vector<std::string>& arguments) {
    const Json said = examine(arguments);
    EXPECT_THAT(said["findings"], SizeIs(1)) << said;
    return said["findings"].size() == 1 ? said["findings"][0] : Json::object();
  }
  static void expect(const Json& row, const std::string& host, const std::string& check,
                     const std::string& wrong, const std::string& fix) {
    EXPECT_EQ(row.value("host", ""), host);
    EXPECT_EQ(row.value("check", ""), check);
    EXPECT_THAT(row.value("wrong", ""), HasSubstr(wrong));
    EXPECT_THAT(row.value("fix", ""), HasSubstr(fix));
  }
  void expect_nothing_left() {
    EXPECT_TRUE(eventually(seconds(10), [&] { return hosts().survivors("sterna").empty(); }));
    for (const std::string& host : hosts().names()) {
      EXPECT_FALSE(hosts().exec(host, {"test", "-e", "/root/.cache/sterna/runs"}).ok());
    }
    EXPECT_TRUE(std::filesystem::is_empty(hosts().launcher_folder() + "/tmp"));
  }

 private:
  std::optional<ClusterHosts> hosts_;
  Environment environment_;
};

/// How often the program was shipped to `host`, by the lines that say in what time.
std::ptrdiff_t shipments(const SternaProgram& doctor, const std::string& host) {
  const std::vector<std::string> lines = lines_of(doctor.err());
  return std::ranges::count_if(lines, [&](const std::string& line) {
    return line.starts_with("shipping the program to " + host + ":") &&
           line.find(" MB in ") != std::string::npos;
  });
}

TEST_F(Doctor, SaysInOneLineThatAllIsWell) {
  const auto doctor = start({write()});
  EXPECT_EQ(doctor->exit_code(kPatience), 0) << doctor->story();
  EXPECT_THAT(doctor->out(), HasSubstr("job.toml: all is well on 3 hosts; 3 of 3 hosts probed"));
  EXPECT_THAT(doctor->out(), HasSubstr("from a"));
  for (const std::string& host : hosts().names()) {
    EXPECT_EQ(shipments(*doctor, host), 1) << doctor->story();
  }
  expect_nothing_left();
}

TEST_F(Doctor, MeasuresEveryPairInBothDirections) {
  // The coordinator where the run has it: here.
  const Json said = examine({write(""), "--bandwidth"});
  EXPECT_THAT(said["round_trips"], SizeIs(6));
  for (const Json& trip : said["round_trips"]) {
    EXPECT_GT(trip.value("microseconds", 0.0), 0) << trip;
    EXPECT_GT(trip.value("megabytes_per_second", 0.0), 0) << trip;
  }
  expect_nothing_left();
}

TEST_F(Doctor, WhatAShellSeesIsARow) {
  const std::string file = write();
  const auto broken = [&](const std::string& what, const std::string& deadline = "20s") {
    hosts().must("break", {"b", what});
    Json row = only_row({file, "--no-ship", "--set", "deadlines.host=\"" + deadline + "\""});
    hosts().must("fix", {"b"});
    return row;
  };
  expect(broken("banner"), "b", "shell", "\"Welcome to b. Today is a fine day.\"", "~/.bashrc");
  expect(broken("password"), "b", "ssh", "asks for a password", "ssh-copy-id b");
  expect(broken("hostkey"), "b", "ssh", "host key has changed", "ssh-keygen -R b");
  expect(broken("diskfull"), "b", "disk", "a run takes", "host.work");
  expect(broken("slow", "5s"), "b", "ssh", "timed out", "does its sshd run");
  EXPECT_THAT(examine({file, "--no-ship"})["findings"], IsEmpty());
}

TEST_F(Doctor, ANameThatOneHostDoesNotKnowIsARow) {
  const std::string file = write("head = \"a\"", {{"c", "address = \"c\""}});
  hosts().must("break", {"b", "names"});
  expect(only_row({file, "--no-ship"}), "b", "names", "does not know the name c", "/etc/hosts");
}

TEST_F(Doctor, AnAddressToBindThatIsNotTheHostsIsARow) {
  const std::string file = write(
      "head = \"a\"", {{"b", "address = \"" + hosts().address("b") + "\"\nbind = \"192.0.2.9\""}});
  const Json said = examine({file});
  ASSERT_THAT(said["findings"], SizeIs(1)) << said;
  expect(said["findings"][0], "b", "bind", "192.0.2.9 is none of its own", hosts().address("b"));
  // The others are probed without it.
  EXPECT_THAT(said["round_trips"], SizeIs(2));
}

TEST_F(Doctor, MissingDataAreARow) {
  const std::string file = write("head = \"a\"", {}, "name = \"mnist\"\ndir = \"/data\"");
  expect(only_row({file, "--no-ship"}), "c", "data", "/data", "c:/data");
}

TEST_F(Doctor, AFirewallBetweenTwoHostsIsARowThatNamesBoth) {
  hosts().must("break", {"b", "port", "a", "40000-40099"});
  const Json said = examine({write()});
  ASSERT_THAT(said["findings"], SizeIs(1)) << said;
  expect(said["findings"][0], "a", "reach",
         "a cannot reach b at " + hosts().address("b") + ":40000-40099",
         "open these ports between them");
  EXPECT_THAT(said["round_trips"], SizeIs(5));
  expect_nothing_left();
}

TEST_F(Doctor, AHostThatDoesNotReachTheCoordinatorIsARow) {
  hosts().must("exec", {"c", "nft",
                        "add table inet broken; add chain inet broken out { type filter hook "
                        "output priority 0; }; add rule inet broken out ip daddr " +
                            hosts().launcher_address() + " tcp dport 40000-40099 drop"});
  const Json said = examine({write("")});
  ASSERT_THAT(said["findings"], SizeIs(1)) << said;
  expect(said["findings"][0], "c", "reach", "c cannot reach this machine", "40000:40099");
  EXPECT_THAT(said["round_trips"], SizeIs(2));
}

TEST_F(Doctor, AnInterruptLeavesNothingBehind) {
  const auto doctor = start({write()});
  ASSERT_TRUE(eventually(kPatience, [&] {
    return doctor->err().find("starting a run") != std::string::npos;
  })) << doctor->story();
  doctor->interrupt();
  EXPECT_EQ(doctor->exit_code(seconds(20)), 130) << doctor->story();
  expect_nothing_left();
}

TEST_F(Doctor, ABadFileIsBadInput) {
  const auto doctor = start({"missing.toml"});
  EXPECT_EQ(doctor->exit_code(kPatience), 2) << doctor->story();
}

}  // namespace
}  // namespace sterna::test
