// Tensors as NumPy's .npz: a zip of .npy files (numpy.lib.format, version 1.0), which is what
// numpy.load() opens. Nothing of it is executed.
#pragma once

#include <span>
#include <string>

#include "nets/tensor/parameter.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/result.h"

namespace sterna::nets {

/// Writes "NAME.npy" for each spec, row-major fp32, uncompressed, and `metadata` as a JSON object
/// in "metadata.json". values[i] has specs[i].count() elements. The file appears whole or not at
/// all. Errors: io, with the path.
Result<void> write_npz(const std::string& path, std::span<const ParameterSpec> specs,
                       std::span<const std::span<const float>> values, const Metadata& metadata);

}  // namespace sterna::nets
