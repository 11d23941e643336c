// Where the data set lies on the host that an actor runs on.
#pragma once

#include <string>

#include "actors/job.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// The folder that input::load_mnist takes: the one that the job names ("~/" is this host's home),
/// or without one what is found where a run on this host would look. Digits that are asked for by
/// name are drawn where they are missing. May take seconds: not on the loop thread.
Result<std::string> data_folder(const DataConfig& data);

}  // namespace sterna::actors
