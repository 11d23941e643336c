// What a backend was asked to make: one of its operations' descriptions.
#pragma once

#include <variant>

#include "nets/backend/average_pool.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/convolution.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/inner_product.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/rectified_sum.h"
#include "nets/backend/relayout.h"

namespace sterna::nets {

using Operation = std::variant<ConvolutionSpec, InnerProductSpec, MaxPoolSpec, AveragePoolSpec,
                               BatchNormSpec, LrnSpec, EltwiseSpec, RectifiedSumSpec, RelayoutSpec>;

}  // namespace sterna::nets
