// Which versions an Evaluator takes. Where training does not wait for it, it names them ahead: it
// asks all servers to keep a version (Reserve). A server that has begun to make that version says
// so, and the evaluator takes its promise back from the others and names a later one. So every
// shard keeps the same versions, and no shard ever waits.
//
// By steps it has as many named as servers keep snapshots, and names the next when one is released:
// what it was too slow for is skipped. By time it names one when that is due.
#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "actors/evaluator/evaluator.h"

namespace sterna::actors {

Task<Result<std::uint64_t>> Evaluator::take_over() {
  const JobConfig& job = args_.job;
  std::deque<Task<Result<Handover>>> all;
  for (ShardServers& server : servers_) {
    all.push_back(server.ask(TakeOver{}, job.deadlines.start));
  }
  std::vector<Handover> known;
  Handover newest;
  for (std::size_t s = 0; s < servers_.size(); ++s) {
    Result<Handover> answer = co_await all[s];
    STERNA_CO_ASSIGN(known.emplace_back(), std::move(answer).in(servers_[s].name()));
    if (known.back().version >= newest.version) newest = known.back();
  }
  named_.clear();
  last_named_ = newest.version;
  skipped_ = newest.skipped;
  // One that was lost may have got to some of the servers only.
  concluded_ = {newest.version, newest.skipped};
  for (ShardServers& server : servers_) server.tell(concluded_);
  std::set<std::uint64_t> promised;
  for (const Handover& one : known) promised.insert(one.named.begin(), one.named.end());
  promised.erase(promised.begin(), promised.upper_bound(newest.version));
  for (const std::uint64_t version : promised) {
    const bool by_all = std::ranges::all_of(
        known, [&](const Handover& one) { return std::ranges::count(one.named, version) > 0; });
    if (by_all) {
      note_named(version);
    } else {
      for (ShardServers& server : servers_) server.tell(Release{version});
    }
  }
  log(fmt::format("going on behind step {}, in place of one that was lost", newest.version));
  co_return newest.version;
}

Result<Handover> Evaluator::on(TakeOver) {
  // In the place of a lost one it may have to hear all of this from the servers first.
  if (found_) STERNA_TRY(is_server(servers_, process(), sender()));
  Handover handover{.version = concluded_.version, .skipped = concluded_.skipped, .named = {}};
  if (evaluating_ > 0) handover.named.push_back(evaluating_);
  for (const Named& one : named_) handover.named.push_back(one.version);
  std::erase(handover.named, args_.job.steps);  // which nobody has to promise
  return handover;
}

Task<Result<Evaluator::Named>> Evaluator::next_version(std::uint64_t version) {
  const JobConfig& job = args_.job;
  if (!job.names_evaluations()) co_return Named{job.next_evaluation(version), 0};
  if (job.evaluation.every_seconds > 0) co_await until_due();
  if (named_.empty()) STERNA_CO_TRY(name_next());
  const Named next = named_.front();
  named_.pop_front();
  co_return next;
}

Task<Result<void>> Evaluator::conclude(const Named& version) {
  const JobConfig& job = args_.job;
  if (version.version == job.steps) co_return {};  // finish() takes it again
  evaluating_ = 0;
  concluded_ = {version.version, version.skipped};
  for (ShardServers& server : servers_) server.tell(concluded_);
  if (!job.names_evaluations() || job.evaluation.every_seconds > 0) co_return {};
  co_return co_await name_next();
}

Task<Result<void>> Evaluator::name_next() {
  const JobConfig& job = args_.job;
  if (last_named_ == job.steps) co_return {};
  const bool by_time = job.evaluation.every_seconds > 0;
  const auto first_at = [&](std::uint64_t earliest) {
    return std::min(job.steps, by_time ? earliest : job.next_evaluation(earliest - 1));
  };
  std::uint64_t version = ended_ ? job.steps : first_at(last_named_ + 1);
  // Training goes on while servers answer: each time it is given twice as far.
  for (std::uint64_t margin = 1; version < job.steps; margin *= 2) {
    STERNA_CO_ASSIGN(const std::uint64_t possible, reserve(version));
    if (possible == version) break;
    version = first_at(std::min(job.steps, possible + margin - 1));
  }
  note_named(version);
  co_return {};
}

void Evaluator::note_named(std::uint64_t version) {
  const EvaluationSection& evaluation = args_.job.evaluation;
  if (evaluation.every_seconds == 0 && evaluation.every > 0) {
    skipped_ += (version - 1) / evaluation.every - last_named_ / evaluation.every;
  }
  last_named_ = version;
  named_at_ = now();
  named_.push_back({version, skipped_});
}

Task<Result<std::uint64_t>> Evaluator::reserve(std::uint64_t version) {
  struct Asked {
    ShardServers& shard;
    const std::string& name;
    Task<Result<Reserved>> answer;
  };
  std::deque<Asked> all;
  for (ShardServers& shard : servers_) {
    for (ShardServers::Member& member : shard.members()) {
      if (shard.paired() && member.peer.lost()) continue;
      all.push_back({shard, member.peer.name(),
                     shard.ask_one(member, Reserve{version}, args_.job.deadlines.step)});
    }
  }
  std::uint64_t possible = version;
  std::set<ShardServers*> heard, promised;
  Error why{Errc::actor_down, "no server is left"};
  for (Asked& one : all) {
    Result<Reserved> answer = co_await one.answer;
    if (!answer) {
      why = Error(answer.error()).in(one.name);
      // Of two one is enough, which tells the other what it has promised.
      if (one.shard.is_of_one(why)) continue;
      co_return why;
    }
    heard.insert(&one.shard);
    if (answer->reserved) {
      promised.insert(&one.shard);
    } else {
      possible = std::max({possible, answer->first, version + 1});
    }
  }
  if (heard.size() < servers_.size()) co_return why;
  if (possible == version) co_return version;
  for (ShardServers* shard : promised) shard->tell(Release{version});
  co_return possible;
}

Task<void> Evaluator::until_due() {
  const double seconds = args_.job.evaluation.every_seconds;
  const Time due = named_at_ + Duration(static_cast<std::int64_t>(seconds * 1e9));
  if (!ended_ && now() < due) run(wake_at(due));
  while (!ended_ && now() < due) co_await woken_.wait();
}

Task<void> Evaluator::wake_at(Time time) {
  co_await sleep(time - now());
  woken_.notify_all();
}

Task<Result<void>> Evaluator::hear_of_the_end() {
  // What is frozen has every version from the start.
  const auto count = [&](const TableChunk& chunk) {
    return table_.tensors[chunk.tensor].frozen ? UINT64_MAX : chunk.count;
  };
  const auto smallest = std::ranges::min_element(table_.chunks, {}, count);
  Pull question{.version = args_.job.steps, .chunks = {}, .kind = PayloadKind::PARAMETERS};
  question.chunks.push_back(static_cast<std::uint32_t>(smallest - table_.chunks.begin()));
  ShardServers& server = servers_[smallest->shard];
  Task<Result<Parameters>> answer = server.ask(std::move(question), kWhileRanksCompute);
  const Result<Parameters> there = co_await answer;
  if (!there) co_return Error(there.error()).in(server.name());
  ended_ = true;
  woken_.notify_all();
  co_return {};
}

}  // namespace sterna::actors
