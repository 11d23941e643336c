// The optimizers that there are, one per file. Internal: find_optimizer is for everyone.
#pragma once

#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {

Optimizer gd_optimizer();
Optimizer momentum_optimizer();
Optimizer adam_optimizer();

}  // namespace sterna::kernels
