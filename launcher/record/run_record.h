// RunRecord: what a run has said so far, for the screen and the result, and what is noted there of
// its actors.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/job/observer.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/recent_ratio.h"
#include "launcher/view/confusion_csv.h"
#include "launcher/view/result_json.h"
#include "launcher/view/run_status.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// What a run has said so far. Outlives the actor that fills it.
struct RunRecord {
  RunStatus status;
  RunResult result;
  std::map<std::string, actors::Progress> progress;  ///< the latest of each worker
  /// What each had counted when it was lost: its next incarnation counts from 0.
  std::map<std::string, actors::Progress> progress_before;
  std::map<std::string, RecentRatio> data_waits;  ///< of each worker: seconds for data, and in all
  std::map<std::string, RecentRatio> readers;     ///< of each: pictures, and the seconds they took
  /// What each had done when it was lost, so that what its next incarnation counts goes on there;
  /// but of the damaged examples, which that one meets again, the most that any has counted.
  std::map<std::string, actors::ReaderProgress> readers_before;
  std::map<std::string, actors::ReaderProgress> readers_last;
  std::optional<Time> first_step_began;
  std::optional<Time> first_step_seen;
  double median_step_seconds = 0;  ///< of the slowest worker, once done
  double guessing_loss = 0;        ///< cross-entropy of who thinks all classes equally likely
  std::set<std::string> waiting;   ///< the servers that wait for the evaluator
  Duration waited{};               ///< of training, until `waited_at`: while some server did
  std::optional<Time> waited_at;
  RecentRatio waits;                   ///< of those seconds to all of the training
  std::optional<Confusion> confusion;  ///< of the last evaluation that has one
  std::set<std::string> workers_done;
  std::set<std::string> workers_lost;         ///< without which the run goes on
  std::set<std::set<std::string>> apart;      ///< pairs that do not reach each other
  std::vector<actors::TensorTotals> tensors;  ///< of the workers that are done
  bool trained = false;                       ///< what follows is the last evaluation
  bool finished = false;
};

/// Brings up to `now` how much of the training has waited for the evaluator.
void count_waits(RunRecord& record, Time now);

/// The line of each actor in the live view, from what the nodes report.
void update_actors(RunStatus& status, const StatusReport& report);
/// How it ended: "done" by itself, "dead" where nobody wanted that; where all that still ran were
/// asked to end (`stopping`), "stopped", or "killed" if it did not in time.
std::string end_of(const ProcessDown& down, bool stopping);
/// The end of an actor in the live view, as end_of() has it; `cause` of one that nobody wanted.
void mark_ended(RunStatus& status, const std::string& name, const std::string& end,
                const std::string& cause);
/// An actor was lost and is started again: it is counted, with its cause `in_words`.
void note_actor_restart(RunRecord& record, const ProcessDown& down, const std::string& in_words);
/// A worker was lost, and the run goes on without it.
void note_loss(RunRecord& record, const ProcessDown& down, const std::string& in_words);
/// What a worker on a device was computed by: once for all who have the same.
void note_plans(RunResult& result, const std::string& worker, actors::DevicePlans by);
/// Of those that are not lost.
bool all_done(const RunRecord& record, const std::set<std::string>& workers);
/// A death in words, with the actor's host where the file has several: what is missing there (data,
/// memory, a folder) has to be put right there.
std::string death_in_words(const ClusterFile& file, const ProcessDown& down);

}  // namespace sterna::launcher
