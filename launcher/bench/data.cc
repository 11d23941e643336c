#include "launcher/bench/data.h"

#include <utility>

#include "actors/reader/preparation.h"
#include "input/place/data_set.h"
#include "launcher/text/environment.h"

namespace sterna::launcher {

Result<BenchData> find_bench_data(const BenchProgress& progress) {
  input::DataQuery query;
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  query.say = progress;
  STERNA_ASSIGN(input::DataLocation location, input::find_data(query));
  STERNA_ASSIGN(input::Dataset dataset, input::load_data(location.dir, input::Split::train));
  auto train = std::make_unique<const input::MemorySource>(std::move(dataset));
  STERNA_ASSIGN(const input::Preparation how,
                actors::preparation_of({}, train->facts(), train->facts().count));
  return BenchData{std::move(location), std::move(train), how};
}

}  // namespace sterna::launcher
