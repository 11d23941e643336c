#include "launcher/record/run_observer.h"

#include <fmt/format.h>

#include "runtime/actor/process.h"

namespace sterna::launcher {

RunObserver::RunObserver(RunRecord& record, const ClusterFile& file, const actors::JobConfig& job,
                         Listener& listener)
    : subsets_(file.evaluation.subsets.begin(), file.evaluation.subsets.end()),
      ranks_(job.ranks),
      job_steps_(job.steps),
      tally_(record, file, job, listener),
      listener_(listener) {
  for (const ActorPlan& actor : file.actors) {
    if (actor.role == Role::kWorker) workers_.insert(actor.name);
    if (actor.role == Role::kInputReader) readers_.insert(actor.name);
    if (actor.role == Role::kParameterServer) servers_.insert(actor.name);
    if (actor.role == Role::kEvaluator) evaluator_ = actor.name;
  }
  for (std::string& name : file.names_of_servers()) servers_.insert(std::move(name));
}

bool RunObserver::is_from(const std::string& name, const std::set<std::string>& who,
                          const char* blame) {
  const PeerIdentity* peer = process().identity_of(sender().process);
  if (peer != nullptr && peer->name == name && who.contains(name)) return true;
  process().blame_sender(blame);
  return false;
}

bool RunObserver::from_worker(const std::string& name) {
  return is_from(name, workers_, "only a worker speaks of its progress");
}

bool RunObserver::from_evaluator() {
  return is_from(evaluator_, {evaluator_}, "only the evaluator tells results");
}

std::uint64_t RunObserver::incarnation() {
  return process().identity_of(sender().process)->incarnation;
}

void RunObserver::on(actors::Progress progress) {
  if (!from_worker(progress.worker)) return;
  tally_.progress(std::move(progress), incarnation(), now());
  listener_.changed();
}

void RunObserver::on(actors::Evaluated evaluated) {
  if (!from_evaluator()) return;
  // Each that is another one is kept.
  if (evaluated.step > job_steps_ || !subsets_.contains(evaluated.subset)) {
    return process().blame_sender("an evaluation of a step, or on a subset, that the job has not");
  }
  tally_.evaluated(std::move(evaluated), now());
  listener_.changed();
}

void RunObserver::on(actors::WorkerDone done) {
  if (!from_worker(done.worker)) return;
  tally_.done(std::move(done), incarnation(), now());
  listener_.changed();
}

void RunObserver::on(actors::JobFinished finished) {
  if (!from_evaluator()) return;
  tally_.finished(std::move(finished), now());
  listener_.changed();
}

void RunObserver::on(actors::ReaderProgress progress) {
  if (!is_from(progress.reader, readers_, "only a reader speaks of its pictures")) return;
  tally_.reader(std::move(progress), now());
  listener_.changed();
}

void RunObserver::on(actors::ServerWaits waits) {
  if (!is_from(waits.server, servers_, "only a parameter server says that it waits")) return;
  tally_.server_waits(waits, now());
  listener_.changed();
}

void RunObserver::on(actors::ActorWhole whole) {
  const bool worker = workers_.contains(whole.actor);
  if (!is_from(whole.actor, worker ? workers_ : servers_,
               "only a parameter server or a worker says that it is whole")) {
    return;
  }
  listener_.actor_whole({whole.actor, whole.incarnation});
}

void RunObserver::on(actors::Watched told) {
  if (!from_worker(told.worker)) return;
  tally_.watched(std::move(told));
}

void RunObserver::on(actors::ResidualsLost lost) {
  if (!from_worker(lost.worker)) return;
  if (lost.ranks == 0 || lost.ranks > ranks_) {
    return process().blame_sender(fmt::format("residuals of {} ranks are lost", lost.ranks));
  }
  tally_.residuals_lost(lost);
  listener_.residuals_lost(lost);
  listener_.changed();
}

}  // namespace sterna::launcher
