#include "actors/server/parameter_server.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "actors/checkpoint/slots_begin.h"
#include "actors/server/server_recovery.h"
#include "actors/weights/initial_weights.h"
#include "nets/describe_net.h"

namespace sterna::actors {
namespace {

/// The first parameters are drawn in so many parts, by as many threads as the process has.
constexpr std::uint32_t kPartsDrawn = 16;

Result<Shard> make_shard(const ServerArgs& args) {
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(net_options(args.job)));
  JobConfig job = args.job;
  if (args.replica) job.checkpoint = {};
  ParameterTable table(net.parameters, job, args.servers);
  return Shard::make(job, std::move(table), args.index, !args.evaluator.empty());
}

}  // namespace

ParameterServer::ParameterServer(ServerArgs args, Finder finder,
                                 std::shared_ptr<ServedShard> served)
    : args_(std::move(args)),
      finder_(std::move(finder)),
      served_(std::move(served)),
      shard_(*this, args_.job, trace_,
             [this](std::function<void()> work) { return compute(std::move(work)); },
             {.published = [this] { write_kept(); },
              .rests =
                  [this] {
                    report_waiting();
                    report_whole();
                  }}) {}

ParameterServer::~ParameterServer() {
  if (served_ == nullptr) return;
  served_->shard = nullptr;
  served_->changed = [] {};
}

void ParameterServer::lend_shard() {
  if (served_ == nullptr) return;
  served_->shard = &*shard_;
  served_->changed = [this] {
    shard_.wake_all();
    write_kept();
    report_waiting();
  };
}

void ParameterServer::started() {
  const bool again = identity().incarnation > 1;
  if (again && !args_.partner.empty()) refilling_.emplace(*this, args_, finder_);
  recovers_ = again && args_.partner.empty();
  start_trace(process(), args_.job.trace);
  trace_ = ServerTrace(process().tracer());
  checkpoints_.emplace(
      process(), self().id.local, args_.job.checkpoint.folder,
      [this](std::function<Result<void>()> work) { return compute(std::move(work)); });
  if (!args_.partner.empty() && !args_.job.in_step()) {
    order_.emplace(*this, args_, finder_, shard_, !again && !args_.replica);
    if (!again) run(order_->find_partner());
  }
  run(prepare());
  if (!args_.observer.empty()) run(find_observer());
}

Task<Result<void>> ParameterServer::find_observer() {
  observer_.emplace(*this, args_.observer, args_.job.deadlines.start, finder_);
  STERNA_CO_TRY(observer_->find());
  observed_ = true;
  if (filled_) report_waiting();
  report_whole();
  co_return {};
}

void ParameterServer::report_waiting() {
  const bool waits = shard_->waits_for_evaluator();
  if (!observed_ || waits == said_to_wait_) return;
  said_to_wait_ = waits;
  observer_->tell(ServerWaits{identity().name, waits});
}

void ParameterServer::report_whole() {
  const bool came_again = refilling_ || recovers_;
  if (!came_again || said_whole_ || !observed_ || !filled_ || !shard_->whole()) return;
  said_whole_ = true;
  const PeerIdentity& self = identity();
  observer_->tell(ActorWhole{self.name, self.incarnation});
}

Task<Result<void>> ParameterServer::prepare() {
  STERNA_CO_ASSIGN(Shard made, compute([args = args_] { return make_shard(args); }));
  // Behind a pointer: should this actor die, the threads draw to the end all the same.
  const auto shard = std::make_shared<Shard>(std::move(made));
  std::vector<Task<void>> parts;
  for (std::uint32_t part = 0; part < kPartsDrawn; ++part) {
    parts.push_back(compute([shard, part] { shard->start(part, kPartsDrawn); }));
    parts.back().start();
  }
  for (Task<void>& part : parts) co_await part;
  if (!args_.job.init.from.empty() && !args_.job.resumes && !refilling_) {
    STERNA_CO_TRY(load(shard));
  }
  if (!args_.keeper.empty()) {
    STERNA_CO_TRY(checkpoints_->find({*this, args_.keeper, args_.job.deadlines.start, finder_}));
  }
  if (args_.job.resumes && !refilling_) {
    Task<Result<void>> restoring = restore(*shard);
    Result<void> restored = co_await restoring;
    STERNA_CO_TRY(std::move(restored).in("going on from a checkpoint"));
  }
  if (args_.job.resumes) {
    Task<Result<std::uint64_t>> reading =
        read_slots_begin(*checkpoints_, shard->table(), args_.job);
    STERNA_CO_ASSIGN(const std::uint64_t begin, std::move(reading));
    shard->begin_slots_at(begin);
  }
  scalers_.emplace(shard->table(), args_.index, args_.job);
  shard_.begin(std::move(*shard));
  const LostState lost{*shard_, *scalers_, concluded_};
  if (refilling_) {
    Task<Result<void>> refilling = refilling_->refill(lost, order_ ? &*order_ : nullptr);
    Result<void> refilled = co_await refilling;
    STERNA_CO_TRY(std::move(refilled).in("its state, from " + args_.partner));
  }
  if (recovers_) {
    Task<Result<void>> recovering = recover(*this, args_, finder_, lost);
    Result<void> recovered = co_await recovering;
    STERNA_CO_TRY(std::move(recovered).in("its state, from the workers"));
  }
  filled_ = true;
  shard_->conclude(concluded_.version);
  if (refilling_) {
    for (const std::uint64_t version : refilling_->released()) shard_->release(version);
  }
  lend_shard();
  if (order_) {
    order_->begin();
    shard_.update();  // what came meanwhile
  }
  prepared_.notify_all();
  if (refilling_ || recovers_) write_kept();
  report_whole();
  co_return {};
}

Task<Result<void>> ParameterServer::restore(Shard& shard) {
  const std::vector<Shard::StatePlace> places = shard.state_places();
  std::vector<StateTarget> targets;
  targets.reserve(places.size());
  for (const Shard::StatePlace& place : places) targets.push_back(place.target);
  Task<Result<std::vector<std::size_t>>> reading =
      checkpoints_->read(std::move(targets), args_.job.deadlines.step);
  STERNA_CO_ASSIGN(const std::vector<std::size_t> absent, std::move(reading));
  for (const std::size_t index : absent) {
    const Shard::StatePlace& place = places[index];
    if (place.needed) {
      co_return Error{Errc::not_found,
                      place.target.array + " is not in it: it is another net's, or damaged"};
    }
    const bool copies = !place.otherwise.empty();
    if (copies) std::ranges::copy(place.otherwise, place.target.values.begin());
    if (place.target.first == 0) {
      log(fmt::format("the checkpoint has no {}: it starts {}", place.target.array,
                      copies ? "at the parameters" : "anew"));
    }
  }
  shard.restored();
  co_return {};
}

KeepAnswer ParameterServer::on(KeepVersion keep) {
  if (!filled_ || !checkpoints_->may_name(sender())) {
    return {.kept = false, .version = args_.job.first_step};
  }
  const bool kept = shard_->keep(keep.version);
  write_kept();
  return {.kept = kept, .version = shard_->newest()};
}

Task<Result<CopyKept>> ParameterServer::on(KeepCopy what) {
  auto copying = checkpoints_->copy(sender(), std::move(what));
  co_return co_await copying;
}

void ParameterServer::write_kept() {
  checkpoints_->write(shard_->kept(), [this] { return shard_->take_kept(); });
}

Task<Result<void>> ParameterServer::load(std::shared_ptr<Shard> shard) {
  auto opening = compute([shard, job = args_.job]() -> Result<InitialWeights> {
    std::vector<nets::ParameterSpec> specs;
    for (const TableTensor& tensor : shard->table().tensors) specs.push_back(tensor.spec);
    return InitialWeights::open(job, specs);
  });
  STERNA_CO_ASSIGN(InitialWeights opened, std::move(opening));
  const auto weights = std::make_shared<const InitialWeights>(std::move(opened));
  if (args_.index == 0) {  // the others take parts of the same
    for (const std::string& line : listing(*weights)) process().log(line);
  }
  std::vector<Task<Result<void>>> parts;
  for (std::uint32_t part = 0; part < kPartsDrawn; ++part) {
    parts.push_back(
        compute([shard, weights, part] { return shard->load(*weights, part, kPartsDrawn); }));
    parts.back().start();
  }
  for (Task<Result<void>>& part : parts) STERNA_CO_TRY(std::move(part));
  co_return {};
}

Task<void> ParameterServer::prepared() {
  while (!filled_) co_await prepared_.wait();
}

Result<void> ParameterServer::may_speak(ActorId sender, std::uint32_t rank,
                                        std::uint64_t incarnation) const {
  if (sender.process == process().id()) return {};  // an actor of ours
  const PeerIdentity* peer = process().identity_of(sender.process);
  if (peer == nullptr) return Error{Errc::permission, "a gradient from nobody we have a link to"};
  if (peer->incarnation != incarnation) {
    return Error{Errc::permission,
                 fmt::format("{} speaks for incarnation {}", peer->text(), incarnation)};
  }
  if (hosts(args_.workers, peer->name, rank)) return {};
  return Error{Errc::permission, fmt::format("{} may not speak for rank {}", peer->name, rank)};
}

/// Workers and the evaluator pull, and no more chunks than there are.
Result<void> ParameterServer::may_pull(ActorId sender, std::size_t chunks) const {
  if (chunks > shard_->table_chunks()) {
    return Error{Errc::invalid_argument, "a pull of more chunks than there are"};
  }
  if (sender.process == process().id()) return {};  // an actor of ours
  const PeerIdentity* peer = process().identity_of(sender.process);
  const bool known = peer != nullptr &&
                     (peer->name == args_.evaluator ||
                      std::any_of(args_.workers.begin(), args_.workers.end(),
                                  [&](const auto& worker) { return worker.name == peer->name; }));
  if (known) return {};
  return Error{Errc::permission, "only workers and the evaluator pull"};
}

Task<Result<PushReply>> ParameterServer::on(Push push) {
  const ActorId from = sender();
  if (order_) {
    if (refilling()) co_return not_yet();
    co_await prepared();
    STERNA_CO_TRY(blamed(from, may_speak(from, push.rank, push.incarnation)));
    Task<Result<PushReply>> taking = order_->take(from, std::move(push));
    co_return co_await taking;
  }
  while (enlisting()) co_await refilling_->enlisted().wait();
  // Its partner has it, or the next of this worker says it again.
  if (refilling() && !refilling_->hears(push.step)) {
    co_return PushReply{std::vector<Verdict>(push.packets.size(), Verdict::DUPLICATE)};
  }
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_speak(from, push.rank, push.incarnation)));
  if (!args_.partner.empty()) co_await no_longer_early(push);
  const std::vector<std::uint32_t> chunks = shard_.chunks_of(push);
  STERNA_CO_ASSIGN(PushReply reply, blamed(from, shard_.accept(std::move(push))));
  shard_.wake(chunks);
  co_return reply;
}

Task<Result<Parameters>> ParameterServer::on(Pull pull) {
  const ActorId from = sender();
  if (refilling()) co_return not_yet();
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_pull(from, pull.chunks.size())));
  if (pull.kind == PayloadKind::GRADIENT && recovers_ &&
      shard_->lacks_average(pull.chunks, pull.version)) {
    // That is several times as many bytes as the worker has made room for.
    co_return Error{Errc::not_found,
                    fmt::format("what led to version {} is lost; the state is here", pull.version)};
  }
  const bool average = pull.kind == PayloadKind::GRADIENT;
  Parameters answer;
  answer.version = pull.version;
  answer.kind = pull.kind;
  answer.chunks.reserve(pull.chunks.size());
  for (const std::uint32_t chunk : pull.chunks) {
    while (true) {
      Result<bool> asked = pull.newest ? shard_->newest_available(chunk, pull)
                                       : shard_->available(chunk, pull.version, pull.kind);
      STERNA_CO_ASSIGN(const bool available, blamed(from, std::move(asked).in("pull")));
      if (available) break;
      co_await shard_.changed(chunk).wait();
    }
    // Taken as soon as it is there: it is immutable, and by the time that the last of the chunks
    // has this version, the first may have a later one.
    if (average) {
      answer.chunks.push_back(shard_->average(chunk));
    } else if (pull.kind == PayloadKind::STATE) {
      auto making = compute([copy = shard_->state(chunk, pull.version),
                             isa = shard_->isa()]() mutable { return copy.made(isa); });
      const std::shared_ptr<const Buffer> made = co_await making;
      answer.chunks.push_back({.chunk = chunk, .codec = Codec::FP32, .payload = share(made)});
    } else if (pull.kind == PayloadKind::MOVING_AVERAGE) {
      answer.chunks.push_back(shard_->moving_average(chunk, pull.version));
    } else if (pull.newest) {
      const std::uint64_t version = shard_->version(chunk);
      answer.chunks.push_back(shard_->parameters(chunk, version, pull.codec));
      answer.chunks.back().version = version;
    } else {
      answer.chunks.push_back(shard_->parameters(chunk, pull.version, pull.codec));
    }
  }
  const Span answering = trace_.answers(pull, from);
  if (average) {
    answer.ranks = args_.job.ranks_down();
    const kernels::StepConstants constants = shard_->constants(pull.version);
    answer.constants.assign(std::begin(constants.value), std::end(constants.value));
  }
  co_return answer;
}

Task<Result<void>> ParameterServer::on(Compare compare) {
  const ActorId from = sender();
  if (refilling()) co_return not_yet();
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_pull(from, compare.chunks.size())));
  if (!args_.partner.empty()) {
    for (const Compare::Fingerprint& one : compare.chunks) {
      while (shard_->is_early(one.chunk, compare.version))
        co_await shard_.changed(one.chunk).wait();
    }
  }
  STERNA_CO_ASSIGN(auto ours, blamed(from, shard_->compared(compare).in("compare")));
  auto different = compute([ours = std::move(ours), theirs = compare.chunks] {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours[i]->get() != theirs[i].hash) return std::optional(theirs[i].chunk);
    }
    return std::optional<std::uint32_t>();
  });
  const std::optional<std::uint32_t> chunk = co_await different;
  if (!chunk) co_return {};
  const TableChunk& place = shard_->table().chunks[*chunk];
  co_return Error{Errc::internal, fmt::format("{} differs from the server's, elements {} to {}",
                                              shard_->table().tensors[place.tensor].spec.name,
                                              place.first, place.first + place.count - 1)};
}

Task<Result<Agreed>> ParameterServer::on(Offer offer) {
  const ActorId from = sender();
  while (enlisting()) co_await refilling_->enlisted().wait();
  // Nobody goes on before the steps before are known everywhere; of these it need not know.
  if (refilling() && !refilling_->hears(offer.step)) co_return not_yet();
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_speak(from, offer.rank, offer.incarnation)));
  // Its rank has the answers of the other server, or of the lost one.
  const bool may_be_early = recovers_ || !args_.partner.empty();
  while (may_be_early && scalers_->is_early(offer)) co_await agreed_.wait();
  STERNA_CO_ASSIGN(const bool complete, blamed(from, scalers_->offer(offer)));
  if (complete) agreed_.notify_all();
  Agreed answer;
  answer.values.reserve(offer.scalers.size());
  for (const Offer::OwnScaler& scaler : offer.scalers) {
    while (true) {
      const std::optional<float> value = scalers_->agreed(offer.step, scaler.index);
      if (value) {
        answer.values.push_back(*value);
        break;
      }
      co_await agreed_.wait();
    }
  }
  co_return answer;
}

bool ParameterServer::is_evaluator(ActorId sender) const {
  if (sender.process == process().id()) return true;
  const PeerIdentity* peer = process().identity_of(sender.process);
  return peer != nullptr && peer->name == args_.evaluator;
}

Task<Result<Reserved>> ParameterServer::on(Reserve reserve) {
  const ActorId from = sender();
  if (!is_evaluator(from)) {
    co_return blamed(
        from, Result<Reserved>(Error{Errc::permission, "only the evaluator reserves versions"}));
  }
  if (refilling() && !order_) co_return not_yet();
  // What its partner promises from then on it has to promise as well.
  while (refilling() && !order_->follows()) co_await order_->moved().wait();
  if (!refilling()) co_await prepared();
  co_return blamed(from, shard_->reserve(reserve.version));
}

void ParameterServer::on(Concluded concluded) {
  if (!is_evaluator(sender())) {
    process().blame_sender("only the evaluator concludes versions");
    return;
  }
  if (!(filled_ || refilling_ || recovers_) || concluded.version <= concluded_.version) return;
  concluded_ = concluded;
  if (!filled_) return;
  shard_->conclude(concluded.version);
  if (served_ != nullptr) served_->released.notify_all();
  shard_.update();
}

Task<Result<Rejoined>> ParameterServer::on(Rejoin rejoin) {
  const ActorId from = sender();
  while (rejoin.patient && enlisting()) co_await refilling_->enlisted().wait();
  if (refilling()) {
    // What has come of that step, and of later ones, is the lost worker's, and not counted.
    if (!rejoin.patient || !refilling_->hears_from()) co_return not_yet();
    co_return Rejoined{*refilling_->hears_from()};
  }
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_speak(from, rejoin.rank, rejoin.incarnation)));
  if (!args_.job.workers_come_again()) {
    co_return Error{Errc::invalid_argument, "ranks of this job do not go on in another worker"};
  }
  // What it offered may be lost where what it pushed, here or elsewhere, is not.
  std::uint64_t step = shard_->first_lacking(rejoin.rank);
  if (args_.job.shares_scalers()) step = std::min(step, scalers_->first_lacking(rejoin.rank));
  co_return Rejoined{step, shard_->newest()};
}

Task<Result<Agreed>> ParameterServer::on(RecallScalers recall) {
  const ActorId from = sender();
  if (refilling()) co_return not_yet();
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_speak(from, recall.rank, recall.incarnation)));
  if (!args_.job.ranks_repeat_steps() || args_.job.gradient.scaler != ScalerRule::last_step) {
    co_return blamed(from, Result<Agreed>(Error{Errc::invalid_argument,
                                                "the ranks of this job recall no scalers"}));
  }
  // What the lost worker has offered is here; others may still be about to.
  while (!scalers_->recall(recall.step) && scalers_->comes_to(recall.step)) {
    co_await agreed_.wait();
  }
  STERNA_CO_ASSIGN(std::vector<float> values, blamed(from, scalers_->recall(recall.step)));
  co_return Agreed{std::move(values)};
}

Task<Result<Handover>> ParameterServer::on(TakeOver) {
  const ActorId from = sender();
  if (!is_evaluator(from)) {
    co_return blamed(
        from, Result<Handover>(Error{Errc::permission, "only an evaluator takes over from one"}));
  }
  if (refilling()) co_return not_yet();
  co_await prepared();
  co_return handover();
}

Handover ParameterServer::handover() const {
  const std::set<std::uint64_t>& named = shard_->named();
  return {.version = std::max(concluded_.version, args_.job.first_step),
          .skipped = concluded_.skipped,
          .named = {named.begin(), named.end()}};
}

void ParameterServer::on(Release release) {
  if (!is_evaluator(sender())) {
    process().blame_sender("only the evaluator releases snapshots");
    return;
  }
  if (refilling()) refilling_->release(release.version);
  if (!filled_) return;
  shard_->release(release.version);
  if (served_ != nullptr) served_->released.notify_all();
  shard_.update();
}

}  // namespace sterna::actors
