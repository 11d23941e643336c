#include "input/formats/source.h"

#include <cassert>

namespace sterna::input {

MemorySource::MemorySource(Dataset dataset)
    : dataset_(std::move(dataset)),
      facts_{.count = dataset_.count,
             .shape = dataset_.shape(),
             .classes = static_cast<std::uint32_t>(dataset_.classes),
             .family = dataset_.family} {}

Result<StoredExample> MemorySource::read(std::uint64_t index) const {
  assert(index < facts_.count);
  return StoredExample{.picture = {Coding::pixels, dataset_.image(index), facts_.shape},
                       .label = dataset_.labels[index]};
}

}  // namespace sterna::input
