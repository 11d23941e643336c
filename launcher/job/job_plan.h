// From the cluster file to what the actors are started with.
#pragma once

#include <string>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "actors/job/job.h"
#include "actors/weights/model_note.h"
#include "input/place/data_set.h"
#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

/// The name under which the actors of a job find the launcher's observer.
inline constexpr const char* kObserverName = "observer";
/// The final weights in the run's folder on an evaluator's host that is not the head.
inline constexpr const char* kRemoteWeights = "weights.safetensors";

/// Whether the number of training examples counts: the job, a schedule, some gradients or the log
/// go by epochs.
bool counts_epochs(const ClusterFile& file);

/// The same file with job.steps in place of job.epochs: ceil(epochs * examples / (batch * ranks)).
/// Of a job that goes on from a checkpoint the examples that its steps have seen count, which may
/// have been of other batches or ranks; null: it begins. Errors: as job_of(), and invalid_argument
/// for more steps than a job may have.
Result<ClusterFile> in_steps(const ClusterFile& file, const input::DataLocation& data,
                             const actors::SavedCheckpoint* from = nullptr);

/// invalid_argument where the file says that there are fewer classes than the data set has.
Result<void> check_class_count(const ClusterFile& file, const input::DataSet& set);

/// What all actors of the job agree on. Fails if the training labels cannot be read, where
/// their number counts.
Result<actors::JobConfig> job_of(const ClusterFile& file, const input::DataLocation& data);

/// In a line to which size pictures of any are brought, where the file leaves that open and the net
/// was made for a smaller one: each step then takes many times as long. "" elsewhere.
std::string picture_size_hint(const actors::JobConfig& job);

/// What the weights of such a job are for, as far as is known where its run is started: without its
/// data without the names of the classes. Errors: those of reading them.
Result<actors::ModelNote> note_of_job(const actors::JobConfig& job,
                                      const input::DataLocation& data);

/// One spec per actor of the file, in its order. `weights` is where the final weights go.
Result<std::vector<ActorSpec>> specs_of(const ClusterFile& file, const actors::JobConfig& job,
                                        const std::string& weights);

}  // namespace sterna::launcher
