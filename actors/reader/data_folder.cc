#include "actors/reader/data_folder.h"

#include <cstdlib>
#include <optional>

#include "input/place/data_source.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

input::DataQuery query_of(const DataSection& data) {
  const input::Environment environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
  input::DataQuery query;
  if (!data.dir.empty()) query.file = expand_home(data.dir);
  query.name = data.name;
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
