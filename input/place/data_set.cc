#include "input/place/data_set.h"

#include <algorithm>
#include <system_error>

#include "input/digits/digits.h"
#include "input/formats/format.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

bool is_drawn(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kDrawnMarker, ignored);
}

bool is_not_drawn(const fs::path& dir) { return !is_drawn(dir); }

// The first that is in a folder is what the folder holds.
constexpr DataSet kDataSets[] = {
    {"mnist", "mnist", "sterna data fetch mnist", is_not_drawn},
    {"digits", "mnist", "", is_drawn},
};

}  // namespace

std::vector<std::string_view> data_set_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kDataSets));
  for (const DataSet& set : kDataSets) names.push_back(set.name);
  return names;
}

const DataSet* find_data_set(std::string_view name) {
  const auto* found = std::ranges::find(kDataSets, name, &DataSet::name);
  return found == std::end(kDataSets) ? nullptr : found;
}

const DataSet& data_set_in(const fs::path& dir) {
  const auto* found =
      std::ranges::find_if(kDataSets, [&](const auto& set) { return set.is_in(dir); });
  return found == std::end(kDataSets) ? kDataSets[0] : *found;
}

Result<Dataset> load_data(const fs::path& dir, Split split) {
  STERNA_ASSIGN(Dataset dataset, format_of(dir).load(dir, split));
  dataset.family = data_set_in(dir).family;
  return dataset;
}

Result<void> check_data(const fs::path& dir, Split split) {
  return format_of(dir).check(dir, split);
}

}  // namespace sterna::input
