// The data sets that a run can ask for by name: what each is known by, and how it is read.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "input/formats/dataset.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// One data set, a line in data_set.cc.
struct DataSet {
  std::string_view name;    ///< as `data.name` has it, and the folder of a cache
  std::string_view family;  ///< how its images are preprocessed (batches/preprocess.h)
  std::string_view source;  ///< the command that gets it; empty: it is drawn where it is missing
  /// Whether a folder that has all files of some format holds this one.
  bool (*is_in)(const std::filesystem::path& dir);
};

/// All data sets, in the order in which a place is searched for them.
std::vector<std::string_view> data_set_names();
/// The data set of this name, or null.
const DataSet* find_data_set(std::string_view name);
/// The data set that `dir` holds; `dir` has all files of some format.
const DataSet& data_set_in(const std::filesystem::path& dir);

/// A split of the data set in `dir`, whatever its format, and its family.
Result<Dataset> load_data(const std::filesystem::path& dir, Split split);
/// Whether load_data can be expected to read this split, at a glance; its errors.
Result<void> check_data(const std::filesystem::path& dir, Split split);

}  // namespace sterna::input
