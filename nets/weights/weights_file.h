// Weights on disk, in the safetensors format (https://github.com/huggingface/safetensors): 8 bytes
// of header length (little-endian), a JSON header, then the tensors' bytes, row-major,
// little-endian. PyTorch, NumPy and others read it; reading it executes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nets/tensor/parameter.h"
#include "runtime/base/result.h"

namespace sterna::nets {

using Metadata = std::map<std::string, std::string>;

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;  ///< row-major
};

struct WeightsFile {
  std::vector<NamedTensor> tensors;  ///< in the order of their bytes in the file
  Metadata metadata;
};

/// Where a tensor lies in a file, checked against the file's size.
struct TensorPlace {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t count = 0;   ///< fp32 elements
};

struct WeightsIndex {
  std::vector<TensorPlace> tensors;  ///< in the order of their bytes in the file
  Metadata metadata;
};

/// Writes one fp32 tensor per spec; values[i] has specs[i].count() elements. The file appears whole
/// or not at all (runtime/base/file.h). Errors: io, with the path and the system's word (no space
/// left, …).
Result<void> write_safetensors(const std::string& path, std::span<const ParameterSpec> specs,
                               std::span<const std::span<const float>> values,
                               const Metadata& metadata);

/// What a file holds, without reading the values. Errors as read_safetensors().
Result<WeightsIndex> index_safetensors(const std::string& path);

/// Reads a file that may come from anywhere: every length is checked against the file's own size
/// before anything is allocated or read. Errors: not_found or io; malformed for anything that the
/// format does not allow, and for element types other than F32.
Result<WeightsFile> read_safetensors(const std::string& path);

}  // namespace sterna::nets
