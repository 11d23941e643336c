// The files of a run's folder on one host (logs, weights), read piece by piece by those who ask
// from elsewhere.
#pragma once

#include <string>

#include "runtime/cluster/cluster_messages.h"

namespace sterna {

/// The piece that `question` asks for of a plain file in `directory`. Fails on names that lead
/// elsewhere (invalid_argument) and on files that are not there (not_found).
Result<FilePiece> read_piece(const std::string& directory, const ReadFile& question);

}  // namespace sterna
