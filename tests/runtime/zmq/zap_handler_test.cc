// What libzmq's question is answered with, asked here as libzmq asks it.
#include "runtime/zmq/zap_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "runtime/loop/uv_loop.h"
#include "runtime/zmq/curve_keys.h"

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Zap : public testing::Test, private Loop::Source {
 protected:
  Zap() {
    Contact peer;
    peer.identity = {"worker", 2};
    peer.token_hash = token_hash("the token");
    admissions.admit(peer);
    EXPECT_TRUE(handler.start(context, loop.uv()).ok());
    loop.add(*this);
    asker = std::move(ZmqSocket::open(context, ZMQ_REQ)).value();
    EXPECT_TRUE(asker.set(ZMQ_LINGER, 0).ok());
    EXPECT_TRUE(asker.connect("inproc://zeromq.zap.01").ok());
  }
  ~Zap() override { loop.remove(*this); }
  void turn() override { handler.turn(); }
  bool ready() override { return handler.ready(); }
  Time next_deadline() override { return kNever; }

  std::vector<std::string> ask(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
      zmq_send(asker.get(), frames[i].data(), frames[i].size(), more);
    }
    loop.run_until([this] { return (asker.events() & ZMQ_POLLIN) != 0; },
                   loop.now() + std::chrono::seconds(10));
    std::vector<std::string> answer;
    int more = 1;
    while (more != 0) {
      std::array<char, 256> buffer;
      const int size = zmq_recv(asker.get(), buffer.data(), buffer.size(), ZMQ_DONTWAIT);
      if (size < 0) break;
      answer.emplace_back(buffer.data(), static_cast<std::size_t>(size));
      std::size_t option_size = sizeof more;
      zmq_getsockopt(asker.get(), ZMQ_RCVMORE, &more, &option_size);
    }
    return answer;
  }
  std::vector<std::string> plain(const std::string& user, const std::string& token) {
    return ask({"1.0", "7", "sterna", "127.0.0.1", "", "PLAIN", user, token});
  }

  Admissions admissions;
  std::vector<std::string> denials;
  UvLoop loop;
  ZmqContext context{1};
  ZapHandler handler{admissions, [this](std::string_view address, std::string_view claimed,
                                        std::string_view reason) {
                       denials.push_back(std::string(address) + " as " + std::string(claimed) +
                                         ": " + std::string(reason));
                     }};
  ZmqSocket asker;
};

TEST_F(Zap, WhoIsAdmittedGetsItsIdentityStamped) {
  EXPECT_THAT(plain("worker#2", "the token"), ElementsAre("1.0", "7", "200", "OK", "worker#2", ""));
  EXPECT_TRUE(denials.empty());
}

TEST_F(Zap, WhoIsNotIsToldNothingAndWeAreToldWhy) {
  EXPECT_THAT(plain("worker#2", "a guess"), ElementsAre("1.0", "7", "400", "not admitted", "", ""));
  EXPECT_THAT(denials, ElementsAre("127.0.0.1 as worker#2: wrong token"));
}

TEST_F(Zap, AnotherMechanismIsNoCredential) {
  EXPECT_THAT(ask({"1.0", "8", "sterna", "127.0.0.1", "", "NULL"})[2], "400");
  EXPECT_THAT(denials, ElementsAre(HasSubstr("no credentials")));
}

TEST_F(Zap, AQuestionTooShortOrTooLongIsAnsweredAllTheSame) {
  EXPECT_THAT(ask({"1.0"}), ElementsAre("1.0", "", "400", "not admitted", "", ""));
  EXPECT_EQ(ask(std::vector<std::string>(100, std::string(1000, 'x')))[2], "400");
  EXPECT_THAT(plain("worker#2", "the token")[2], "200");
}

}  // namespace
}  // namespace sterna
