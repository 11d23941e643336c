// What the random draws of a training step depend on, beside the layer and the element.
#pragma once

#include <cstdint>

namespace sterna::nets {

struct StepDraw {
  std::uint64_t seed = 0;  ///< of the run
  std::uint32_t step = 0;
  std::uint32_t rank = 0;
  std::uint64_t first_image = 0;  ///< of this pass, within the rank's whole batch
};

}  // namespace sterna::nets
