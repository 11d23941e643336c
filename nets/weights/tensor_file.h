// TensorFile: an open safetensors file whose header has been read and checked, and whose tensors
// are read in parts when they are wanted: from anybody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::nets {

using Metadata = std::map<std::string, std::string>;

/// A tensor as the header lists it.
struct ListedTensor {
  std::string name;
  std::string dtype;  ///< as the format calls element types: "F32", "I64", …
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;  ///< of its bytes, after the header
  std::uint64_t end = 0;
  std::uint64_t count() const;  ///< elements
  /// Whether it is of a type that is read here: F32, F16 or BF16.
  bool readable() const;
};

/// A name or text that came with a file, as a message shows it: short, without control characters.
std::string shown_name(std::string_view name);

class TensorFile {
 public:
  /// Every length is checked against the file's own size before anything is allocated or read.
  /// Tensors of types that are not read here are listed all the same. Errors: not_found, permission
  /// or io; malformed for anything that the format does not allow.
  static Result<TensorFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  /// In the order of their bytes.
  const std::vector<ListedTensor>& tensors() const { return tensors_; }
  /// Null: there is none.
  const ListedTensor* find(std::string_view name) const;
  const Metadata& metadata() const { return metadata_; }
  /// The elements of a readable tensor from `first` on, as many as `into` takes, which it has; F16
  /// and BF16 as the fp32 of the same value. Any thread may read. Errors: io, and malformed for a
  /// file that has been cut since.
  Result<void> read(const ListedTensor& tensor, std::uint64_t first, std::span<float> into) const;

 private:
  TensorFile() = default;

  std::string path_;
  std::shared_ptr<const int> descriptor_;  // closed with the last
  std::uint64_t data_ = 0;                 // where it begins
  std::vector<ListedTensor> tensors_;
  Metadata metadata_;
};

}  // namespace sterna::nets
