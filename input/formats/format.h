// The formats that a data set's files come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "input/formats/dataset.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// One format: how a folder of it is known, read and cut. Each has a file of its own and a line in
/// format.cc. Errors are one line that names the file and says what to do.
struct Format {
  std::string_view name;
  /// The files of a split, each of which lies there plain or with ".gz".
  std::vector<std::string> (*files)(Split split);
  Result<Dataset> (*load)(const std::filesystem::path& dir, Split split);
  /// Whether `load` can be expected to read this split, at a glance; its errors.
  Result<void> (*check)(const std::filesystem::path& dir, Split split);
  Result<std::uint64_t> (*count)(const std::filesystem::path& dir, Split split);
  /// Writes examples `range` of `whole` as a split of `dir`; each file appears whole or not at all.
  Result<void> (*write)(const std::filesystem::path& dir, Split split, const Dataset& whole,
                        const ExampleRange& range);
};

/// Those of the format's files that `dir` lacks, of both splits.
std::vector<std::string> missing_files(const Format& format, const std::filesystem::path& dir);

/// The format of which `dir` lacks the fewest files; none where it has a whole data set.
const Format& format_of(const std::filesystem::path& dir);

}  // namespace sterna::input
