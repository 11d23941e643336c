// A whole training job in one test: each actor in a simulated process of its own, over the
// in-memory transport, on a virtual clock; and the same training as one plain loop, as an oracle.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/keeper.h"
#include "actors/evaluator/evaluator.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/reader/input_reader.h"
#include "actors/server/parameter_server.h"
#include "actors/worker/serving_worker.h"
#include "actors/worker/worker.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::actors {

/// A data set of `train` and `test` 28 x 28 images that lenet can learn, as IDX files in `dir`.
void write_small_dataset(const std::filesystem::path& dir, std::size_t train, std::size_t test);

/// Keeps what it is told.
class RecordingObserver final : public Actor<Observer> {
 public:
  struct Record {
    std::vector<Progress> progress;
    std::vector<Evaluated> evaluated;
    std::vector<WorkerDone> done;
    std::optional<JobFinished> finished;
    std::vector<ReaderProgress> readers;
    std::vector<ServerWaits> waits;
    std::vector<ActorWhole> whole;
    std::vector<Watched> histograms;
    std::vector<ResidualsLost> without;
    std::vector<std::string> no_copies;
    std::vector<Time> evaluated_at;
    Time done_at;  ///< when the last worker was
  };
  explicit RecordingObserver(Record& record) : record_(record) {}
  void on(Progress message) { record_.progress.push_back(std::move(message)); }
  void on(Evaluated message) {
    record_.evaluated.push_back(std::move(message));
    record_.evaluated_at.push_back(now());
  }
  void on(WorkerDone message) {
    record_.done.push_back(std::move(message));
    record_.done_at = now();
  }
  void on(JobFinished message) { record_.finished = std::move(message); }
  void on(ReaderProgress message) { record_.readers.push_back(std::move(message)); }
  void on(ServerWaits message) { record_.waits.push_back(std::move(message)); }
  void on(ActorWhole message) { record_.whole.push_back(std::move(message)); }
  void on(ResidualsLost message) { record_.without.push_back(std::move(message)); }
  void on(Watched message) { record_.histograms.push_back(std::move(message)); }

 private:
  Record& record_;
};

struct JobLayout {
  std::uint32_t servers = 1;
  std::uint32_t readers = 1;
  std::uint32_t workers = 1;
  std::uint32_t ranks_per_worker = 1;
  std::uint32_t cores = 1;  ///< on which a worker's ranks take turns, where they are in step
  /// With shards: each reader answers for another one's, which its workers were not told.
  bool readers_reversed = false;
  /// The average that led to this version arrives from server0 with one bit flipped; 0: none does.
  std::uint64_t flip_at_version = 0;
  bool replicas = false;        ///< each server has one, "server0-replica"
  bool one_process = false;     ///< all actors in one process, without links
  std::string backend = "cpu";  ///< of all workers
  /// What a worker computes on, by its number; not set: what its backend names.
  std::function<std::shared_ptr<kernels::Device>(std::uint32_t worker)> device = nullptr;
  std::uint32_t devices = 1;              ///< of a worker: so many, all of which are that one
  std::vector<CopyPlace> copies_at = {};  ///< where job.checkpoint.copies
  std::string evaluator_backend = "cpu";
  /// What the evaluator computes on; null: what its backend names.
  std::shared_ptr<kernels::Device> evaluator_device = nullptr;
  std::string resume = {};  ///< where job.resumes: the checkpoint, or the folder of some
};

/// The addresses of a job's actors by name: what their finder looks in.
using Names = std::map<std::string, AnyRef>;

/// What spawns an actor of a job once more, by name, in another process.
using Spawners = std::map<std::string, std::function<void(Process&)>>;

/// Spawns all actors of a job: "launcher" (the observer), "server0", "reader0", "worker0", ...,
/// "evaluator", each in the process that `home` gives for its name.
std::shared_ptr<const Names> spawn_job(const JobConfig& job, const JobLayout& layout,
                                       const std::string& weights,
                                       RecordingObserver::Record& record,
                                       const std::shared_ptr<KeeperRecord>& kept,
                                       const std::function<Process&(const std::string&)>& home,
                                       Spawners* again = nullptr);

class SimulatedJob : public test::SimFixture {
 protected:
  SimulatedJob();
  ~SimulatedJob() override;

  /// Spawns all actors, each in a process of its name unless the layout says otherwise.
  void launch(const JobLayout& layout);
  /// Runs until the workers and the evaluator are done, an actor has died, or virtual time is up.
  void finish();
  /// launch() and finish(): the final hash; empty if it failed, with the causes in `deaths`.
  std::string hash_of(const JobLayout& layout);

  /// In place of the small mlp, which takes a tenth of the time.
  void train_lenet() {
    job.net = "lenet";
    job.hidden.clear();
  }

  /// As by SIGKILL of that actor's process.
  void lose(const std::string& name);
  /// Of what that actor computes on, once the job trains, as by [[inject.fault]].
  Result<void> inject_device_fault(const std::string& name);
  /// Its next incarnation.
  void bring_back(const std::string& name);

  test::SimProcess& process_of(const std::string& name) { return *by_name_.at(name); }
  AnyRef ref_of(const std::string& name) const { return names_->at(name); }

  JobConfig job;
  std::string weights;
  RecordingObserver::Record record;
  std::shared_ptr<KeeperRecord> kept = std::make_shared<KeeperRecord>();
  std::vector<std::string> deaths;

 private:
  std::filesystem::path data_;
  JobLayout layout_;
  std::shared_ptr<const Names> names_;
  std::map<std::string, test::SimProcess*> by_name_;
  std::map<std::string, std::uint64_t> incarnations_;
  Spawners again_;
  void hear_of_deaths(const std::string& name);
};

/// The same job without actors, messages or chunks: one loop over steps, ranks and whole tensors.
/// The final hash, and where they are asked for the moving averages, by tensor.
std::string sequential_oracle(const JobConfig& job,
                              std::vector<std::vector<float>>* averages = nullptr);

}  // namespace sterna::actors
