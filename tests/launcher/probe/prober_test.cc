#include "launcher/probe/prober.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actors/job/job.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

class ProberTest : public test::SimFixture {
 protected:
  test::SimProcess& asker_ = start("asker");
  ActorRef<ProberInterface> prober_ = start("prober").process->spawn<ProberActor>(ProberArgs{});
  template <class M>
  Result<ReplyTo<M>> ask(const M& question) {
    return asker_.process->wait(asker_.process->ask(prober_, question, 10s));
  }
};

TEST_F(ProberTest, AnswersALoadWithAsManyBytesAsItIsAskedFor) {
  const Bytes body = copy_bytes("a load");
  EXPECT_EQ(ask(Load{body, 4096})->body.size(), 4096U);
  EXPECT_EQ(ask(Load{body, 0})->body.size(), 0U);
}

TEST_F(ProberTest, SaysWhenItIsNoPartOfARun) {
  const Result<PeerProbed> probed = ask(ProbePeer{.peer = "nobody", .pings = 1, .patience = 1s});
  ASSERT_FALSE(probed.ok());
  EXPECT_EQ(probed.error().message, "this process is no part of a run");
}

TEST_F(ProberTest, CountsThePortsThatNobodyHasBound) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(socket, any, size), 0);
  ASSERT_EQ(::listen(socket, 1), 0);
  ASSERT_EQ(::getsockname(socket, any, &size), 0);
  const std::uint16_t port = ::ntohs(address.sin_port);
  EXPECT_EQ(ask(CountPorts{"127.0.0.1", port, port})->free, 0U);
  ::close(socket);
  EXPECT_EQ(ask(CountPorts{"127.0.0.1", port, port})->free, 1U);
}

TEST_F(ProberTest, MeasuresCodecsForAJobThatItIsTold) {
  actors::JobConfig job;
  job.net = "lenet";
  job.steps = 1;
  const Result<CodecsProbed> probed = ask(ProbeCodecs{pack(job), {"none"}});
  ASSERT_TRUE(probed.ok()) << probed.error().message;
  ASSERT_EQ(probed->costs.size(), 1U);
  EXPECT_EQ(probed->costs[0].bytes_up, 4);
}

TEST_F(ProberTest, EndsWhenItIsTold) {
  asker_.process->tell(prober_, Finish{});
  pass(1s);
  EXPECT_EQ(ask(Ping{}).error().code, Errc::actor_down);
}

}  // namespace
}  // namespace sterna::launcher
