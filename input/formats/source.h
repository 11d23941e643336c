// Where examples come from, one at a time: in memory, or read from files when they are asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/formats/dataset.h"
#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What is known of a split without its pictures.
struct SourceFacts {
  std::uint64_t count = 0;    ///< examples
  PictureShape shape;         ///< rows and columns 0: pictures differ in size
  std::uint32_t classes = 0;  ///< labels are below
  std::string_view family;    ///< how its pictures are prepared (augment/family.h)
  std::string sha256 = {};    ///< of a source that names itself so; else empty
  bool operator==(const SourceFacts&) const = default;
};

/// One example as it is stored. The picture's bytes lie in the source, which outlives this, or in
/// `own`.
struct StoredExample {
  EncodedPicture picture;
  std::uint16_t label = 0;
  std::vector<Box> boxes = {};  ///< of the upright picture
  std::vector<std::uint8_t> own = {};
};

/// A split's examples by their index. Any thread may read.
class Source {
 public:
  virtual ~Source() = default;
  virtual const SourceFacts& facts() const = 0;
  /// Example `index` (< facts().count). Errors name the file: `malformed` where this example is
  /// damaged and others may not be.
  virtual Result<StoredExample> read(std::uint64_t index) const = 0;
  /// Where example `index` lies, for people; empty: only its number says.
  virtual std::string place_of(std::uint64_t /*index*/) const { return {}; }
  /// That these will be read soon, in this order.
  virtual void announce(std::span<const std::uint64_t> /*indices*/) const {}
  /// The examples, `index` among them, of which one stands for another that is damaged.
  virtual ExampleRange block_of(std::uint64_t /*index*/) const { return {0, facts().count}; }
};

/// Examples in memory.
class MemorySource final : public Source {
 public:
  explicit MemorySource(Dataset dataset);
  const SourceFacts& facts() const override { return facts_; }
  Result<StoredExample> read(std::uint64_t index) const override;
  const Dataset& dataset() const { return dataset_; }

 private:
  Dataset dataset_;
  SourceFacts facts_;
};

}  // namespace sterna::input
