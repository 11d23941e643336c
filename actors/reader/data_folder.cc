#include "actors/reader/data_folder.h"

#include <cstdlib>
#include <optional>

#include "input/place/data_set.h"
#include "input/place/data_source.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

/// What is made up is at once of the size that the net sees, unless nobody says.
input::SyntheticPictures synthetic_of(const DataSection& data, std::uint64_t seed) {
  input::SyntheticPictures pictures;
  if (data.size > 0) pictures.shape.rows = pictures.shape.columns = data.size;
  if (data.channels > 0) pictures.shape.channels = data.channels;
  pictures.seed = seed;
  return pictures;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace

input::DataOptions data_options(const DataSection& data, std::uint64_t seed) {
  input::DataOptions options{.classes = data.classes,
                             .label_offset = data.label_offset,
                             .train_files = data.train_files,
                             .test_files = data.test_files};
  const input::DataSet* set = input::find_data_set(data.name);
  if (set != nullptr && input::lies_nowhere(*set)) options.synthetic = synthetic_of(data, seed);
  if (const auto cache = input::cache_directory(environment)) options.cache = *cache / "records";
  return options;
}

namespace {

input::DataQuery query_of(const DataSection& data) {
  input::DataQuery query;
  if (!data.dir.empty()) query.file = expand_home(data.dir);
  query.name = data.name;
  query.options = data_options(data, 0);
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  return query;
}

Result<std::string> find(const input::DataQuery& query) {
  STERNA_ASSIGN(const input::DataLocation found, input::find_data(query));
  return found.dir.string();
}

}  // namespace

Result<std::string> training_folder(const DataSection& data,
                                    const std::optional<input::ShardId>& shard) {
  input::DataQuery query = query_of(data);
  query.shard = shard;
  return find(query);
}

Result<std::string> test_folder(const DataSection& data) {
  input::DataQuery query = query_of(data);
  query.any_shard = true;
  return find(query);
}

}  // namespace sterna::actors
