// A job's record before the job has begun, and once it is over (pure).
#pragma once

#include <string>
#include <vector>

#include "launcher/job/run_job.h"
#include "launcher/record/run_record.h"

namespace sterna::launcher {

/// Of a job of which nothing has been heard.
RunRecord blank_record(const JobOptions& options);

/// How a job ended, beside what its record says already.
struct JobEnd {
  enum class Kind { kDone, kInterrupted, kFailed };
  Kind kind = Kind::kDone;
  std::string cause = {};                      ///< of one that is not done
  std::vector<std::string> consequences = {};  ///< deaths that followed from it
  std::string weights_left = {};               ///< JobOutcome's
};

/// The record of a job of `file` that ended so, its elapsed seconds counted.
void close_record(RunRecord& record, const ClusterFile& file, const JobEnd& end);

}  // namespace sterna::launcher
