// A server in the place of a lost one, while its partner goes on: what it says of what it has yet
// to get, and which steps it takes for its own.
#include <gtest/gtest.h>

#include <optional>

#include "tests/actors/server/server_pair.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

/// Says from which step on it tells a server, once a test says it.
class TellingWorker final : public Actor<WorkerInterface> {
 public:
  Task<Result<Enlisted>> on(Enlist) {
    while (!from_) co_await known_.wait();
    co_return Enlisted{*from_};
  }
  KeepAnswer on(KeepVersion) { return {}; }
  Result<Held> on(ShowHeld) { return no(); }
  Result<ChunkCopy> on(CopyChunk) { return no(); }
  Result<CopyKept> on(KeepCopy) { return no(); }

  void tells_from(std::uint64_t step) {
    from_ = step;
    known_.notify_all();
  }

 private:
  static Error no() { return {Errc::not_found, "not in this test"}; }
  std::optional<std::uint64_t> from_;
  Condition known_;
};

class ServerRefillingTest : public ServerPair {
 protected:
  struct TestWorker {
    test::SimProcess& home;
    TellingWorker* actor;
  };
  TestWorker start_worker(const std::string& name) {
    test::SimProcess& home = start(name);
    const auto worker = home.process->spawn<TellingWorker>();
    (*names)[name] = worker;
    return {home, static_cast<TellingWorker*>(home.process->find(worker.id.local))};
  }
  template <class M>
  Future<ReplyTo<M>> ask(const TestWorker& worker, M message) {
    return worker.home.process->ask(fresh, std::move(message), kPatience);
  }
  template <class M>
  Result<ReplyTo<M>> answer(const TestWorker& worker, M message) {
    return worker.home.process->wait(ask(worker, std::move(message)));
  }
  template <class M>
  Errc error(const TestWorker& worker, M message) {
    const Result<ReplyTo<M>> answer = this->answer(worker, std::move(message));
    return answer ? Errc{} : answer.error().code;
  }
  /// The partner has this step of both ranks.
  void step(std::uint64_t step) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Process& worker = *(rank == 0 ? worker0 : worker1).home.process;
      EXPECT_TRUE(worker.wait(worker.ask(partner, push(rank, step, step), kPatience)).ok());
    }
  }

  TestWorker worker0 = start_worker("worker0");
  TestWorker worker1 = start_worker("worker1");
  ActorRef<ParameterServerInterface> partner;
  ActorRef<ParameterServerInterface> fresh;  ///< in the place of the lost one
};

TEST_F(ServerRefillingTest, TakesWhatIsSaidFromTheLatestStepOnThatAWorkerBeginsToTellItOf) {
  partner = spawn(start("server0"));
  step(0);
  fresh = spawn(start("server0-replica", 2));
  Future<Rejoined> patient = ask(worker1, Rejoin{.rank = 1, .incarnation = 1, .patient = true});
  Future<PushReply> before = ask(worker0, push(0, 1, 1));
  Future<PushReply> behind = ask(worker0, push(0, 2, 2));
  worker0.actor->tells_from(1);
  pass(1s);
  EXPECT_FALSE(patient.ready() || before.ready()) << "one has not said yet";
  EXPECT_EQ(error(worker1, Rejoin{.rank = 1, .incarnation = 1}), Errc::not_found);
  worker1.actor->tells_from(2);
  const Result<Rejoined> rejoined = worker1.home.process->wait(std::move(patient));
  ASSERT_TRUE(rejoined.ok());
  EXPECT_EQ(rejoined->step, 2U);
  EXPECT_EQ(verdicts(worker0.home.process->wait(std::move(before))), all(Verdict::DUPLICATE))
      << "its partner has that";
  pass(1s);
  EXPECT_FALSE(behind.ready()) << "its partner has yet to come to that version";
  EXPECT_EQ(error(worker0, Pull{.version = 1, .chunks = {0}}), Errc::not_found);
  step(1);
  EXPECT_EQ(verdicts(worker0.home.process->wait(std::move(behind))), all(Verdict::ACCEPTED));
  const auto of = [&](const ActorRef<ParameterServerInterface>& server) {
    Process& worker = *worker0.home.process;
    const Result<Parameters> pulled =
        worker.wait(worker.ask(server, Pull{.version = 2, .chunks = {0}}, kPatience));
    EXPECT_TRUE(pulled.ok());
    return pulled ? values(*pulled) : std::vector<float>();
  };
  EXPECT_FALSE(of(fresh).empty());
  EXPECT_EQ(of(fresh), of(partner));
}

TEST_F(ServerRefillingTest, WhereOneDecidesTheOrderOfPushesWhoeverAsksHearsThatItHasNothingYet) {
  job.scheme.name = "async";
  fresh = spawn(start("server0-replica", 2));  // whose partner does not come
  pass(1s);
  EXPECT_EQ(error(worker0, push(0, 0)), Errc::not_found);
  EXPECT_EQ(error(worker0, Pull{.chunks = {0}}), Errc::not_found);
  EXPECT_EQ(error(worker0, Rejoin{.incarnation = 1}), Errc::not_found);
  // No worker of such a job says these two. Nothing would tell them when to look again.
  EXPECT_EQ(error(worker0, Rejoin{.incarnation = 1, .patient = true}), Errc::not_found);
  EXPECT_EQ(error(worker0, Offer{.incarnation = 1, .scalers = {}}), Errc::not_found);
}

}  // namespace
}  // namespace sterna::actors
