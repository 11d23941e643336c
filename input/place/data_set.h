// The data sets that a run can ask for by name: what each is known by, and how it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/formats/dataset.h"
#include "input/formats/format.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What stands in `data.name` for the data set that is found first.
inline constexpr const char* kAnyDataSet = "any";

/// One data set, a line in data_set.cc.
struct DataSet {
  std::string_view name;    ///< as `data.name` has it, and the folder of a cache
  std::string_view family;  ///< how its images are prepared (augment/family.h)
  std::string_view source;  ///< what gets it; empty: it is made where it is missing
  const Format* format;
  PictureShape shape;     ///< rows and columns 0: pictures differ in size
  std::uint32_t classes;  ///< 0: as its files say
  /// Whether a folder that has all files of the format holds this one; null: it does.
  bool (*is_in)(const std::filesystem::path& dir) = nullptr;
};

/// All data sets, in the order in which a place is searched for them.
std::vector<std::string_view> data_set_names();
/// The one that stands for all where nobody can look which is there: the first.
const DataSet& usual_data_set();
/// The names of those whose files have the same names as the set's.
std::vector<std::string_view> names_in_form_of(const DataSet& set);
/// Whether its files may have any names, which DataOptions::train_files and test_files then choose.
bool takes_patterns(const DataSet& set);
/// The data set of this name, or null.
const DataSet* find_data_set(std::string_view name);
/// The data set that `dir` holds; `dir` has all files of some format.
const DataSet& data_set_in(const std::filesystem::path& dir, const DataOptions& options = {});
/// Whether it is made up and lies in no folder: DataOptions::synthetic asks for it.
bool lies_nowhere(const DataSet& set);
/// Whether it is made where it is missing.
inline bool is_made_where_missing(const DataSet& set) { return set.source.empty(); }

/// What a report calls the data set in `dir`, which is looked for as `name`: "idx" where that is
/// "mnist" and the files are another set's in MNIST's form, by their test labels; else `name`.
std::string told_name(const std::filesystem::path& dir, std::string_view name);

/// A split of the data set in `dir`, whatever its format, and its family. Of one that is read when
/// it is asked for: `invalid_argument`.
Result<Dataset> load_data(const std::filesystem::path& dir, Split split);
/// The same where examples may also be read when they are asked for. `invalid_argument` for options
/// that the data set's form has nothing for.
Result<std::shared_ptr<const Source>> open_data(const std::filesystem::path& dir, Split split,
                                                const DataOptions& options = {});
/// What open_data can be expected to read, at a glance; its errors.
Result<SourceFacts> data_facts(const std::filesystem::path& dir, Split split,
                               const DataOptions& options = {});

}  // namespace sterna::input
