// Where the machine that a run is started on finds the weights that it begins with ([init]).
#pragma once

#include <string>
#include <vector>

#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// The file with the place of its weights made absolute, where this machine has them there. Of a
/// run's directory that is what it means now, a file or a checkpoint's folder: the run that the
/// weights are of may go on, and every server is to take the same. Says which checkpoints are
/// passed over because they are damaged.
ClusterFile with_absolute_init(const ClusterFile& file, const Console& console);

/// What a run would take of the weights, in a few lines for its screen; none where it takes none.
/// What is wrong with them is said now, and not by a server of a run. Where only other hosts need
/// them, and this machine has none, a line says so.
Result<std::vector<std::string>> look_at_init(const ClusterFile& file,
                                              const input::DataLocation& data);

}  // namespace sterna::launcher
