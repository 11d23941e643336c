// Weights on disk, in the safetensors format (https://github.com/huggingface/safetensors): 8 bytes
// of header length (little-endian), a JSON header, then the tensors' bytes, row-major,
// little-endian. PyTorch, NumPy and others read it; reading it executes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nets/tensor/parameter.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::nets {

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;  ///< row-major
};

struct WeightsFile {
  std::vector<NamedTensor> tensors;  ///< in the order of their bytes in the file
  std::vector<ListedTensor> others;  ///< those of element types that are not read here
  Metadata metadata;
};

/// Writes one fp32 tensor per spec; values[i] has specs[i].count() elements. The file appears whole
/// or not at all (runtime/base/file.h). Where `seen` is set it gets the file's bytes, part by part.
/// Errors: io, with the path and the system's word (no space left, …).
Result<void> write_safetensors(const std::string& path, std::span<const ParameterSpec> specs,
                               std::span<const std::span<const float>> values,
                               const Metadata& metadata,
                               const std::function<void(ByteView)>& seen = nullptr);

/// All of a file that may come from anywhere, F16 and BF16 as fp32. Errors: TensorFile's, and io
/// where it does not fit into memory.
Result<WeightsFile> read_safetensors(const std::string& path);

}  // namespace sterna::nets
