// The emulated hosts are what the other tests take them for: apart in processes, files, sockets and
// libraries, reached only over the network, and gone without a trace.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "tests/cluster/cluster_hosts.h"
#include "tests/temporary_folder.h"

namespace sterna::test {
namespace {

using std::chrono::duration;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Hosts : public testing::Test {
 protected:
  void SetUp() override {
    hosts_.emplace(3);
    STERNA_NEEDS_HOSTS(*hosts_);
  }
  ClusterHosts& hosts() { return *hosts_; }
  /// A process of the host that would stay for ever; its arguments hold `mark`.
  std::unique_ptr<Program> start_sleeper(const std::string& host, const std::string& mark) {
    auto ssh = hosts().start_ssh(host, "exec -a " + mark + " sleep 1000000");
    EXPECT_TRUE(eventually(seconds(10), [&] { return !hosts().survivors(mark).empty(); }));
    return ssh;
  }

 private:
  std::optional<ClusterHosts> hosts_;
};

TEST(HostsScript, NamesThePackageOfEachToolThatIsMissingBeforeItMakesAnything) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const TemporaryFolder folder;
  const std::string tools = folder.path() + "/tools";
  const std::string fill = "mkdir " + tools + " && ln -s /usr/bin/* " + tools + " && rm -f " +
                           tools + "/ping " + tools + "/nft";
  ASSERT_EQ(std::system(fill.c_str()), 0);
  const std::string source = std::getenv("STERNA_SOURCE");
  Program hosts(folder.path(),
                {"/bin/bash", source + "/tests/cluster/hosts", "up", folder.path() + "/up", "1"},
                with_variables(own_environment(), {"PATH=" + tools}));
  EXPECT_EQ(hosts.exit_code(seconds(20)), 77);
  EXPECT_THAT(hosts.err(), HasSubstr("ping here (apt-get install "));
  EXPECT_THAT(hosts.err(), HasSubstr("iputils-ping"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/up"));
}

TEST_F(Hosts, EachIsReachedBySshUnderItsName) {
  for (const std::string& name : hosts().names()) {
    const Said said = hosts().ssh(name, "hostname; id -un; pwd");
    EXPECT_EQ(said.out, name + "\nroot\n/root\n") << said.story();
  }
  EXPECT_EQ(hosts().ssh("ada@b", "id -un").out, "ada\n");
}

TEST_F(Hosts, KnowEachOtherAndTheLauncherByName) {
  EXPECT_THAT(hosts().exec("a", {"getent", "hosts", "c"}).out, HasSubstr(hosts().address("c")));
  EXPECT_THAT(hosts().exec("a", {"getent", "hosts", "launcher"}).out,
              HasSubstr(hosts().launcher_address()));
}

TEST_F(Hosts, AProcessIsInTheTableOfItsHostAndInNoOther) {
  const auto ssh = start_sleeper("b", "marked");
  const auto found = hosts().survivors("marked");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].host, "b");
  EXPECT_THAT(hosts().must("ps", {"b"}), HasSubstr("marked"));
  EXPECT_THAT(hosts().must("ps", {"a"}), Not(HasSubstr("marked")));
}

TEST_F(Hosts, TheirInitReapsOrphans) {
  hosts().ssh("a", "setsid sh -c 'true & exec true' & wait");
  EXPECT_TRUE(eventually(seconds(5), [&] {
    return hosts().must("ps", {"a"}).find("defunct") == std::string::npos;
  })) << hosts().must("ps", {"a"});
}

TEST_F(Hosts, AUnixSocketOfOneIsNotOnAnother) {
  // sshd itself binds it there.
  const Program ssh(hosts().launcher_folder(),
                    {hosts().folder() + "/bin/ssh", "-NR", "/tmp/bound:localhost:1", "a"},
                    own_environment());
  const std::vector<std::string> is_there = {"test", "-S", "/tmp/bound"};
  EXPECT_TRUE(eventually(seconds(10), [&] { return hosts().exec("a", is_there).ok(); }));
  EXPECT_FALSE(hosts().exec("b", is_there).ok());
  EXPECT_FALSE(std::filesystem::exists("/tmp/bound"));
}

TEST_F(Hosts, SeeNeitherCheckoutNorBuildNorLauncher) {
  for (const std::string& path : {std::string(std::getenv("STERNA_SOURCE")),
                                  std::string(std::getenv("STERNA_BINARY")), hosts().folder()}) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_FALSE(hosts().exec("a", {"test", "-e", path}).ok()) << path;
  }
}

TEST_F(Hosts, LackTheLibrariesThatTheProgramNeeds) {
  hosts().must("put", {"a", std::getenv("STERNA_BINARY"), "/opt"});
  const Said said = hosts().exec("a", {"ldd", "/opt/sterna"});
  for (const char* library :
       {"libzmq.so", "libcapnp", "libdnnl.so", "libstdc..\\.so", "libfmt.so"}) {
    EXPECT_THAT(said.out, testing::ContainsRegex(std::string(library) + "[^ ]* => not found"));
  }
  EXPECT_FALSE(hosts().exec("a", {"/opt/sterna", "--version"}).ok());
}

TEST_F(Hosts, ACutOneIsSilentAndAMendedOneAnswers) {
  hosts().cut("b");
  EXPECT_EQ(hosts().ssh("b", "true").code, 255);
  EXPECT_TRUE(hosts().ssh("a", "true").ok());
  hosts().mend("b");
  // Who asked for its address in vain asks again only after a while.
  EXPECT_TRUE(eventually(seconds(10), [&] { return hosts().ssh("b", "true").ok(); }));
  EXPECT_THAT(hosts().exec("b", {"ip", "route"}).out, HasSubstr("default via"));
}

TEST_F(Hosts, LossOfPowerEndsEveryProcessAndKeepsTheDisk) {
  const auto ssh = start_sleeper("a", "marked");
  hosts().ssh("a", "touch kept /tmp/lost");
  hosts().kill("a");
  EXPECT_THAT(hosts().survivors("."), IsEmpty());
  EXPECT_FALSE(hosts().exec("a", {"true"}).ok());
  EXPECT_FALSE(ssh->exit_code(Duration::zero())) << "it says goodbye";
  hosts().revive("a");
  EXPECT_THAT(hosts().survivors("marked"), IsEmpty());
  EXPECT_EQ(hosts().ssh("a", "ls").out, "kept\n");
  EXPECT_EQ(hosts().ssh("a", "ls /tmp").out, "");
}

/// One connection from a host to the launching machine; how fast it is, in bytes a second.
class Measured {
 public:
  explicit Measured(ClusterHosts& hosts) : hosts_(hosts) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, hosts.launcher_address().c_str(), &address.sin_addr);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    there_ = "/dev/tcp/" + hosts.launcher_address() + "/" + std::to_string(ntohs(address.sin_port));
  }
  ~Measured() { ::close(listener_); }

  double from(const std::string& host) {
    return rate(host, "head -c " + std::to_string(kBytes) + " /dev/zero >" + there_,
                [](int connection, std::vector<char>&) { ::shutdown(connection, SHUT_WR); });
  }
  double to(const std::string& host) {
    return rate(host, "cat >/dev/null <" + there_, [](int connection, std::vector<char>& buffer) {
      for (std::size_t sent = 0; sent < kBytes; sent += buffer.size()) {
        EXPECT_EQ(::send(connection, buffer.data(), buffer.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(buffer.size()));
      }
      ::shutdown(connection, SHUT_WR);
    });
  }

 private:
  static constexpr std::size_t kBytes = 1 << 24;

  /// From the connection to its end, which the host makes.
  template <typename Send>
  double rate(const std::string& host, const std::string& command, Send send) {
    std::vector<char> buffer(1 << 16);
    const auto shell = hosts_.start_ssh(host, command + "; :");
    const int connection = ::accept(listener_, nullptr, nullptr);
    const SteadyClock clock;
    const Time start = clock.now();
    send(connection, buffer);
    while (::recv(connection, buffer.data(), buffer.size(), 0) > 0) {
    }
    const double taken = duration<double>(clock.now() - start).count();
    ::close(connection);
    EXPECT_TRUE(shell->exit_code(seconds(10)));
    return kBytes / taken;
  }

  ClusterHosts& hosts_;
  std::string there_;
  int listener_ = -1;
};

TEST_F(Hosts, AShapedLinkHasItsRateInBothDirections) {
  constexpr double kRate = 100e6 / 8;
  Measured measured(hosts());
  hosts().shape("a", "100mbit");
  const NetworkBytes before = hosts().network_bytes("a");
  const double sent = measured.from("a"), received = measured.to("a");
  const NetworkBytes after = hosts().network_bytes("a");
  EXPECT_NEAR(after.sent - before.sent, 1 << 24, 1 << 20);
  EXPECT_NEAR(after.received - before.received, 1 << 24, 1 << 20);
  // Whoever stands still for a moment is slower than the link, and tries again.
  const auto is_the_links = [&](double rate, const std::function<double()>& again) {
    for (int i = 0; i < 4 && rate < 0.8 * kRate; ++i) rate = again();
    EXPECT_NEAR(rate, kRate, 0.2 * kRate);
  };
  is_the_links(sent, [&] { return measured.from("a"); });
  is_the_links(received, [&] { return measured.to("a"); });
  EXPECT_GT(measured.from("b"), 2 * kRate);
  hosts().shape("a", "none");
  EXPECT_GT(measured.from("a"), 2 * kRate);
}

TEST_F(Hosts, WhatIsBrokenShowsAndCanBeFixed) {
  const auto broken = [&](const std::string& what, const std::string& command) {
    hosts().must("break", {"b", what});
    const Said said = hosts().ssh("b", command);
    hosts().must("fix", {"b"});
    EXPECT_TRUE(hosts().ssh("b", "true").ok()) << what;
    return said.out + said.err;
  };
  EXPECT_THAT(broken("banner", "true"), HasSubstr("Welcome to b"));
  EXPECT_THAT(broken("password", "true"), HasSubstr("Permission denied (password)"));
  EXPECT_THAT(broken("hostkey", "true"), HasSubstr("Host key verification failed"));
  EXPECT_THAT(broken("slow", "true"), HasSubstr("timed out during banner exchange"));
  EXPECT_THAT(broken("names", "getent hosts a || echo unknown"), HasSubstr("unknown"));
  EXPECT_THAT(broken("diskfull", "head -c 1M /dev/zero >file"), HasSubstr("No space left"));
}

TEST_F(Hosts, AFirewallDropsWhatOneHostSendsToSomePorts) {
  const auto connects = [&](const std::string& from, const std::string& port,
                            const std::string& patience = "10") {
    // Nobody listens: where nothing is dropped, the answer comes at once.
    const Said said =
        hosts().exec(from, {"timeout", patience, "bash", "-c", "</dev/tcp/b/" + port});
    return said.err.find("refused") != std::string::npos;
  };
  hosts().must("break", {"b", "port", "a", "7000-7009"});
  EXPECT_FALSE(connects("a", "7005", "1"));
  EXPECT_TRUE(connects("a", "7010"));
  EXPECT_TRUE(connects("c", "7005"));
  hosts().must("fix", {"b"});
  EXPECT_TRUE(connects("a", "7005"));
}

TEST_F(Hosts, OtherHostsSideBySideAreUntouched) {
  const auto ssh = start_sleeper("a", "marked");
  {
    ClusterHosts others(1);
    EXPECT_NE(others.address("a"), hosts().address("a"));
    EXPECT_THAT(others.survivors("marked"), IsEmpty());
    EXPECT_TRUE(others.ssh("a", "true").ok());
  }
  EXPECT_THAT(hosts().survivors("marked"), SizeIs(1));
}

TEST_F(Hosts, EndWithTheProcessThatTheyAreFor) {
  const std::string folder = hosts().folder() + "-for";
  const std::string script = std::string(std::getenv("STERNA_SOURCE")) + "/tests/cluster/hosts";
  const std::string slot = folder + "/slot";
  Program owner(hosts().launcher_folder(),
                {"/bin/bash", "-c", script + " up " + folder + " 1 --for $$; exec sleep 1000000"},
                own_environment());
  ASSERT_TRUE(eventually(seconds(20), [&] {
    return std::filesystem::exists(folder + "/hosts/a/init") && !content_of(slot).empty();
  })) << owner.err();
  const std::string bridge = "/sys/class/net/stn" + lines_of(content_of(slot)).at(0);
  EXPECT_TRUE(std::filesystem::exists(bridge));
  owner.kill();
  EXPECT_TRUE(eventually(seconds(20), [&] {
    return !std::filesystem::exists(bridge) && !std::filesystem::exists(folder);
  }));
}

}  // namespace
}  // namespace sterna::test
