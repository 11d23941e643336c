#include "launcher/bench/data.h"

#include <utility>

#include "input/place/data_set.h"
#include "launcher/text/environment.h"

namespace sterna::launcher {

Result<BenchData> find_bench_data(const BenchProgress& progress) {
  input::DataQuery query;
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  query.say = progress;
  STERNA_ASSIGN(input::DataLocation location, input::find_data(query));
  STERNA_ASSIGN(input::Dataset train, input::load_data(location.dir, input::Split::train));
  return BenchData{std::move(location), std::move(train)};
}

}  // namespace sterna::launcher
