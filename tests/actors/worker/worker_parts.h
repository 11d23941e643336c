// What a part of a worker is given in a test of it alone: an actor that runs its tasks, and servers
// and readers, each in a simulated process of its own, that answer when, and what, the test says.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/schemes/scheme.h"
#include "actors/server/shard_servers.h"
#include "actors/worker/worker_context.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::actors {

/// What somebody was asked, in the order in which it came; each waits for the test's answer.
template <class M>
class Questions {
 public:
  Task<Result<ReplyTo<M>>> hold(M message) {
    Question& one = all_.emplace_back(std::move(message));
    while (!one.answer) co_await one.answered.wait();
    co_return *one.answer;
  }
  std::size_t size() const { return all_.size(); }
  const M& operator[](std::size_t i) const { return all_.at(i).message; }
  void answer(std::size_t i, Result<ReplyTo<M>> answer) {
    all_.at(i).answer.emplace(std::move(answer));
    all_.at(i).answered.notify_all();
  }

 private:
  struct Question {
    explicit Question(M asked) : message(std::move(asked)) {}
    M message;
    std::optional<Result<ReplyTo<M>>> answer;
    Condition answered;
  };
  std::deque<Question> all_;
};

/// All that a server was asked by a worker's parts, or by those in its place.
struct ServerQuestions {
  Questions<Push> pushes;
  Questions<Pull> pulls;
  Questions<Offer> offers;
  Questions<Rejoin> rejoins;
  Questions<RecallScalers> recalls;
};

class AskedServer final : public Actor<ParameterServerInterface> {
 public:
  explicit AskedServer(ServerQuestions& asked) : asked_(asked) {}
  Task<Result<PushReply>> on(Push push) { return asked_.pushes.hold(std::move(push)); }
  Task<Result<Parameters>> on(Pull pull) { return asked_.pulls.hold(std::move(pull)); }
  Task<Result<Agreed>> on(Offer offer) { return asked_.offers.hold(std::move(offer)); }
  Task<Result<Rejoined>> on(Rejoin rejoin) { return asked_.rejoins.hold(rejoin); }
  Task<Result<Agreed>> on(RecallScalers recall) { return asked_.recalls.hold(recall); }
  // Nobody says these.
  void on(Release) {}
  void on(Concluded) {}
  Result<Reserved> on(Reserve) { return nobody(); }
  Result<Handover> on(TakeOver) { return nobody(); }
  Result<ChunkCopy> on(CopyChunk) { return nobody(); }
  Result<BoardCopy> on(CopyBoard) { return nobody(); }
  Result<CopyKept> on(KeepCopy) { return nobody(); }
  Result<PushReply> on(Forward) { return nobody(); }
  Result<void> on(Compare) { return nobody(); }
  Result<KeepAnswer> on(KeepVersion) { return nobody(); }

 private:
  static Error nobody() { return {Errc::unavailable, "no part of a worker asks this"}; }
  ServerQuestions& asked_;
};

class AskedReader final : public Actor<InputReaderInterface> {
 public:
  explicit AskedReader(Questions<NextBatch>& asked) : asked_(asked) {}
  Task<Result<Batch>> on(NextBatch question) { return asked_.hold(question); }

 private:
  Questions<NextBatch>& asked_;
};

/// In the worker's place: has the parts, and runs what they run.
class PartsOwner final : public Actor<Interface<>> {
 public:
  using ActorBase::compute;
  using ActorBase::poster;
  using ActorBase::run;
  std::deque<ShardServers> servers;
  std::vector<std::shared_ptr<void>> parts;  ///< end with the actor, and before the servers
};

class WorkerParts : public test::SimFixture {
 protected:
  void TearDown() override { processes.clear(); }

  /// The worker, of `job` and `args` as they are then.
  void begin(std::uint64_t incarnation = 1) {
    args.job = job;
    policy = find_scheme(job.scheme.name)->worker(job);
    Process& own = *start("worker0", incarnation).process;
    own.set_on_death([this](LocalId, const std::string& cause) { deaths.push_back(cause); });
    worker = static_cast<PartsOwner*>(own.find(own.spawn<PartsOwner>().id.local));
    context.emplace(WorkerContext{
        .process = own,
        .args = args,
        .policy = *policy,
        .trace = {},
        .run = [this](Task<Result<void>> task) { worker->run(std::move(task)); },
        .on_compute_thread =
            [this](std::function<void()> work) { return worker->compute(std::move(work)); },
    });
  }
  /// As begin(), and a server for each shard: "server0", ...
  void begin_with_servers(std::uint32_t shards) {
    begin();
    for (std::uint32_t i = 0; i < shards; ++i) {
      const std::string name = "server" + std::to_string(i);
      spawn_server(name);
      worker->servers.emplace_back(peer<ParameterServerInterface>(name), worker->poster(), kWindow,
                                   job.servers_come_again());
    }
  }
  /// Each with a replica.
  void begin_with_pairs(std::uint32_t shards) {
    begin_with_servers(shards);
    for (ShardServers& shard : worker->servers) {
      const std::string name = replica_of(shard.name());
      spawn_server(name);
      shard.add_replica(peer<ParameterServerInterface>(name), worker->poster(), kWindow);
    }
  }
  /// Of the worker, until it dies.
  template <class Part, class... Args>
  Part& make(Args&&... arguments) {
    const auto part = std::make_shared<Part>(std::forward<Args>(arguments)...);
    worker->parts.push_back(part);
    return *part;
  }
  template <class I>
  Peer<I> peer(const std::string& name) {
    const Finder finder = [this](Process&, std::string wanted, Duration) -> Task<Result<AnyRef>> {
      const auto found = names.find(wanted);
      if (found == names.end()) co_return Error{Errc::not_found, "no actor of this name"};
      co_return found->second;
    };
    return {*worker, name, std::chrono::seconds(30), finder};
  }
  void spawn_server(const std::string& name, std::uint64_t incarnation = 1) {
    homes[name] = &start(name, incarnation);
    names[name] = homes[name]->process->spawn<AskedServer>(asked[name]);
  }
  void spawn_reader(const std::string& name, std::uint64_t incarnation = 1) {
    homes[name] = &start(name, incarnation);
    names[name] = homes[name]->process->spawn<AskedReader>(batches[name]);
  }
  /// As by SIGKILL; the worker's process is told.
  void lose(const std::string& name) {
    const ProcessId id = homes.at(name)->process->id();
    kill(*homes.at(name));
    context->process.process_down({{id, {}}, name, 1, "killed"});
  }

  /// What a task that the worker runs comes to, once it has.
  template <class T>
  std::shared_ptr<std::optional<T>> result_of(Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    worker->run(keep_result(std::move(task), result));
    return result;
  }
  std::shared_ptr<bool> end_of(Task<void> task) {
    auto over = std::make_shared<bool>(false);
    worker->run(note_end(std::move(task), over));
    return over;
  }
  /// For what is under way to arrive.
  void settle() { pass(std::chrono::milliseconds(5)); }

  JobConfig job;
  WorkerArgs args;
  std::unique_ptr<WorkerPolicy> policy;
  std::optional<WorkerContext> context;
  PartsOwner* worker = nullptr;
  std::vector<std::string> deaths;  ///< of the worker: causes
  std::map<std::string, ServerQuestions> asked;
  std::map<std::string, Questions<NextBatch>> batches;
  std::map<std::string, AnyRef> names;
  std::map<std::string, test::SimProcess*> homes;

 private:
  static constexpr std::uint64_t kWindow = 1U << 20;

  template <class T>
  static Task<void> keep_result(Task<T> task, std::shared_ptr<std::optional<T>> result) {
    T value = co_await task;
    result->emplace(std::move(value));
  }
  static Task<void> note_end(Task<void> task, std::shared_ptr<bool> over) {
    co_await task;
    *over = true;
  }
};

}  // namespace sterna::actors
