// How a job's pictures are prepared: the same for its readers and its evaluator.
#pragma once

#include "actors/job/job.h"
#include "input/batches/prepare.h"
#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// What its family makes of the job's pictures.
input::FamilyOptions family_options(const JobConfig& job);

/// What the job says, and where it says nothing the data set. Of `examples`, those that the caller
/// reads, the job's part may be damaged. Errors: examples of other classes
/// than the job's net is built for.
Result<input::Preparation> preparation_of(const JobConfig& job, const input::SourceFacts& facts,
                                          std::uint64_t examples);

}  // namespace sterna::actors
