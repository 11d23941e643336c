// Maximum over any windows, channels last, 16 channels at a time; oneDNN 2.6 takes several times as
// long. (Windows that tile an image without remainder: halving_pool.h.)
#pragma once

#include <memory>

#include "nets/backend/max_pool.h"

namespace sterna::nets {

/// Whether `spec` is of the kind: a byte counts its window's pixels.
bool is_avx512_max_pool(const MaxPoolSpec& spec);

/// On one thread, in AVX-512.
std::unique_ptr<MaxPool> make_avx512_max_pool(const MaxPoolSpec& spec);

}  // namespace sterna::nets
