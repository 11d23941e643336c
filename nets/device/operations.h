// Each operation that a device has, made in the file of its name. Internal to this room.
#pragma once

#include "nets/backend/average_pool.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/convolution.h"
#include "nets/backend/decay.h"
#include "nets/backend/dropout.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/inner_product.h"
#include "nets/backend/loss.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/parameter_versions.h"
#include "nets/backend/rectified_sum.h"
#include "nets/backend/relayout.h"
#include "nets/backend/repeated_pass.h"
#include "nets/device/context.h"

namespace sterna::nets {

// The context outlives what is made.

std::unique_ptr<Convolution> device_convolution(DeviceContext& context,
                                                const ConvolutionSpec& spec);
std::unique_ptr<MaxPool> device_max_pool(DeviceContext& context, const MaxPoolSpec& spec);
std::unique_ptr<AveragePool> device_average_pool(DeviceContext& context,
                                                 const AveragePoolSpec& spec);
std::unique_ptr<BatchNorm> device_batch_norm(DeviceContext& context, const BatchNormSpec& spec);
std::unique_ptr<Lrn> device_lrn(DeviceContext& context, const LrnSpec& spec);
std::unique_ptr<Dropout> device_dropout(DeviceContext& context, const DropoutSpec& spec);
std::unique_ptr<Relayout> device_relayout(DeviceContext& context, const RelayoutSpec& spec);
std::unique_ptr<InnerProduct> device_inner_product(DeviceContext& context,
                                                   const InnerProductSpec& spec);
std::unique_ptr<Eltwise> device_eltwise(DeviceContext& context, const EltwiseSpec& spec);
std::unique_ptr<RectifiedSum> device_rectified_sum(DeviceContext& context,
                                                   const RectifiedSumSpec& spec);
std::unique_ptr<Loss> device_loss(DeviceContext& context, const LossSpec& spec);
std::unique_ptr<Decay> device_decay(DeviceContext& context, const DecaySpec& spec);
std::unique_ptr<RepeatedPass> device_repeated_pass(DeviceContext& context);
std::unique_ptr<ParameterVersions> device_parameter_versions(DeviceContext& context,
                                                             std::span<const std::size_t> elements);

}  // namespace sterna::nets
