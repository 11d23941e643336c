#include "runtime/zmq/zmq_endpoints.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace sterna {
namespace {

struct IpcEndpoint : testing::Test {
  TemporaryFolder folder;
  const std::string& directory = folder.path();
};

TEST_F(IpcEndpoint, NamesActorIncarnationAndLane) {
  EXPECT_EQ(*free_ipc_endpoint(directory, {"worker/0", 3}, Lane::data),
            "ipc://" + directory + "/worker%2F0.3.data");
  EXPECT_NE(*free_ipc_endpoint(directory, {"a/b", 1}, Lane::data),
            *free_ipc_endpoint(directory, {"a_b", 1}, Lane::data));
}

TEST_F(IpcEndpoint, RefusesADirectoryThatOthersCanEnter) {
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);
  EXPECT_EQ(free_ipc_endpoint(directory, {"worker", 1}, Lane::data).error().code, Errc::permission);
  EXPECT_EQ(free_ipc_endpoint(directory + "/none", {"worker", 1}, Lane::data).error().code,
            Errc::io);
}

TEST_F(IpcEndpoint, RefusesAPathThatDoesNotFitASocketAddress) {
  const std::string far = directory + "/" + std::string(80, 'd');
  ASSERT_EQ(mkdir(far.c_str(), 0700), 0);
  const auto endpoint = free_ipc_endpoint(far, {"worker", 1}, Lane::control);
  ASSERT_FALSE(endpoint);
  EXPECT_NE(endpoint.error().message.find("shorter"), std::string::npos);
}

TEST_F(IpcEndpoint, FitsForEachNameThatAnActorMayHave) {
  // As long as a folder under TMPDIR is.
  const std::string longest = "/tmp/" + std::string(19, 't') + "/sterna-near-123456";
  constexpr std::size_t kSocketPath = 107;
  const std::string dots = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.1.2.3.4.5.6.";
  for (const std::string& name : {std::string(64, 'n'), dots, std::string(64, '-')}) {
    const std::string path = ipc_endpoint(longest, {name, 1234}, Lane::control).substr(6);
    EXPECT_LE(path.size() + kSpellings, kSocketPath) << path;
  }
  EXPECT_EQ(ipc_endpoint("/d", {"v1.2", 3}, Lane::data), "ipc:///d/v1.2.3.data");
  // Those that begin alike are told apart.
  EXPECT_NE(ipc_endpoint("/d", {std::string(63, 'n') + "1", 1}, Lane::data),
            ipc_endpoint("/d", {std::string(63, 'n') + "2", 1}, Lane::data));
}

TEST(Ports, AreTriedEachOnceFromTheHash) {
  EXPECT_EQ(ports_to_try(5000, 5003, 6), (std::vector<int>{5002, 5003, 5000, 5001}));
  EXPECT_EQ(ports_to_try(5000, 5000, ~0ULL), (std::vector<int>{5000}));
  EXPECT_TRUE(ports_to_try(5001, 5000, 0).empty());
}

TEST(Spelling, IsAnotherEachTimeAndMeansTheSame) {
  EXPECT_EQ(*spell("tcp://[::1]:80", 0), "tcp://[::1]:080");
  EXPECT_EQ(*spell("ipc:///run/x/w.1.data", 1), "ipc:///run/x///w.1.data");
  for (const char* plain : {"tcp://[::1]:80", "tcp://10.77.1.1:40010", "ipc:///run/x/w.1.data"}) {
    for (int i = 0; i < kSpellings; ++i) EXPECT_EQ(unspelt(*spell(plain, i)), plain);
    EXPECT_EQ(unspelt(plain), plain);
  }
  std::set<std::string> spellings;
  for (int i = 0; i < kSpellings; ++i) spellings.insert(*spell("tcp://127.0.0.1:80", i));
  EXPECT_EQ(spellings.size(), static_cast<std::size_t>(kSpellings));
  for (const char* wrong : {"", "tcp://", "tcp://host", "tcp://host:", "ipc://", "udp://a:1"}) {
    EXPECT_FALSE(spell(wrong, 0)) << wrong;
  }
}

}  // namespace
}  // namespace sterna
