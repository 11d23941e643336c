// The JPEGs that `sterna bench input` decodes and prepares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "input/formats/source.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

/// JPEG files in memory, all of class 0.
class JpegSource final : public input::Source {
 public:
  explicit JpegSource(std::vector<std::vector<std::uint8_t>> files);
  const input::SourceFacts& facts() const override { return facts_; }
  Result<input::StoredExample> read(std::uint64_t index) const override;

 private:
  std::vector<std::vector<std::uint8_t>> files_;
  input::SourceFacts facts_;
};

struct BenchPictures {
  std::unique_ptr<const JpegSource> source;
  double pixels = 0;   ///< of all of them
  bool drawn = false;  ///< for want of any
};

/// At most `most` JPEGs, evenly spaced, of the folder tree `dir`, in the order of their names;
/// without `dir` of "flower_photos" in $STERNA_DATA or the user's cache; and where neither has it,
/// pictures of 240 x 320 that are drawn, which `progress` is told. Errors: `dir` without a JPEG,
/// and a file that cannot be read or decoded.
Result<BenchPictures> find_bench_pictures(const std::optional<std::filesystem::path>& dir,
                                          std::size_t most, const BenchProgress& progress);

}  // namespace sterna::launcher
