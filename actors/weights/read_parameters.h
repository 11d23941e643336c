// A whole net's values, from wherever somebody has them.
#pragma once

#include <functional>
#include <span>

#include "nets/net.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Where parameters come from: writes all values of one, which is asked for by name, shape and
/// role.
using ParameterReader =
    std::function<Result<void>(const nets::ParameterSpec& spec, std::span<float> values)>;

/// Fills the whole net, in the host's memory or on a device. Errors: those of the reader, and the
/// device's.
Result<void> read_parameters(nets::Net& net, const ParameterReader& read);

}  // namespace sterna::actors
