// From a folder of pictures to shuffled TFRecord files, as the originals' build_image_data.py and
// build_imagenet_data.py make them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "input/build/shards.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Pixels: a square of this side has kMostPixels.
inline constexpr std::uint32_t kLongestRawSide = 8192;

struct BuildOptions {
  std::uint64_t seed = 1;               ///< of the pictures' order, and of who validates
  std::uint32_t train_shards = 8;       ///< files, 1 to kMostRecordShards
  std::uint32_t validation_shards = 2;  ///< alike
  unsigned threads = 1;                 ///< changes no byte
  /// Of each class, the share that validates where the folder has no split for it: [0, 1). 0: none.
  double validation = 0.1;
  bool raw = false;               ///< decoded RGB, else JPEG
  std::uint32_t side = 0;         ///< of raw pictures, squashed to a square; 0: at their own size
  std::uint32_t first_label = 0;  ///< 0, or 1 as in the originals, whose 0 is the background
  /// As ImageNet has them (annotations.h); empty: none.
  std::filesystem::path names = {};
  std::filesystem::path boxes = {};
  BuildProgress progress = {};
};

struct BuildReport {
  std::size_t classes = 0;
  ShardsWritten train;
  std::optional<ShardsWritten> validation;  ///< none: nothing validates
  /// Of the pictures written just now, those that were PNGs or JPEGs of inks and are JPEGs of RGB.
  std::uint64_t recoded = 0;
  /// "PATH: why" of the first few pictures, by name, that were left out just now: they cannot be
  /// decoded. How many there are in all is in the splits.
  std::vector<std::string> left_out;
};

/// Builds `into` (train-*-of-*, validation-*-of-*, labels.txt, BUILD.txt) from `dir`: a picture
/// folder, or folders of train and validation pictures (split_folder). Its bytes are a function of
/// the pictures and the options. A build that was interrupted goes on: its whole files are kept.
/// Where a picture or a file of boxes was written since, it is another build.
/// Errors: list_picture_folder's, Annotations::open's, begin_build's, those of reading and writing;
/// a damaged file of boxes of a picture; invalid_argument for
/// options out of range, a share that is not 0 and holds nothing back, more files than pictures, or
/// splits of different classes.
Result<BuildReport> build_records(const std::filesystem::path& dir,
                                  const std::filesystem::path& into, const BuildOptions& options);

}  // namespace sterna::input
