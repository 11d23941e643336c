// Manifest: what makes a checkpoint of a folder of parts. It is written last, whole or not at all;
// a folder without one is no checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/job/checkpoint.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Compares with that of as many examples of the same data only.
struct MeasuredPrecision {
  double at_1 = 0;
  std::uint64_t examples = 0;  ///< it was measured on; 0: it was not noted
};

struct Manifest {
  struct Part {
    std::string actor;  ///< who wrote it
    std::string file;   ///< a plain name within the folder
    std::uint64_t bytes = 0;
    Hash hash{};
  };
  std::string run = {};  ///< who made it: what no other run is called; empty: unknown
  std::string net;
  std::uint64_t step = 0;      ///< steps done: the version of the parameters
  std::uint64_t position = 0;  ///< examples seen (input/batches/BATCHES.md)
  std::uint32_t ranks = 1;
  std::string resolved;  ///< the cluster file with every key explicit
  /// What its weights are for, as the metadata of a weights file say it (actors/weights); of a run
  /// whose data were not on its head without the names of the classes.
  nets::Metadata note = {};
  std::vector<Part> parts;
  std::string copy = {};  ///< where a whole copy lies: "HOST:FOLDER"; empty: nowhere
  std::optional<MeasuredPrecision> precision;  ///< where this version was evaluated
};

inline constexpr const char* kManifestFile = "manifest.json";

std::string to_json(const Manifest& manifest);
/// Errors: malformed, for anything that to_json() does not write: names that lead elsewhere or come
/// twice, counts that no job has.
Result<Manifest> parse_manifest(std::string_view json);

/// Of the checkpoint in `folder`. Errors: not_found, io, malformed; each names the path.
Result<Manifest> read_manifest(const std::string& folder);
Result<void> write_manifest(const std::string& folder, const Manifest& manifest);

}  // namespace sterna::actors
