// A data set in another form: MNIST's and CIFAR's files, TFRecord files and picture folders to
// TFRecord files or to a picture folder, picture by picture, in their order, without loss.
#pragma once

#include <cstdint>
#include <filesystem>

#include "input/build/shards.h"
#include "runtime/base/result.h"

namespace sterna::input {

struct ConvertOptions {
  std::filesystem::path cache;  ///< where packed TFRecord files are unpacked
  BuildProgress progress = {};
};

/// Examples that were written. Plain data.
struct Converted {
  std::uint64_t train = 0;
  std::uint64_t validation = 0;
};

/// Writes `into`/train-00000-of-00001, validation-00000-of-00001 and, where the classes have names,
/// labels.txt. Files of pictures stay as they are, pixels become PNGs; labels are those of `from`.
/// What a call that was killed left of itself in `into`, where nothing else is there, is removed
/// first. Errors, after which nothing of it is left: open_record_split's; malformed, in a line each
/// of the first ten, for pictures that cannot be read; already_exists where `into` is not empty;
/// those of writing.
Result<Converted> convert_to_records(const std::filesystem::path& from,
                                     const std::filesystem::path& into,
                                     const ConvertOptions& options);

/// Writes a picture folder: `into`/train/CLASS/FILE, the same in validation, and labels.txt with
/// the classes that `from` names, or else those that there are, in the order of their labels. CLASS
/// is what `from` calls it, or its label; FILE is the record's name, or its index. What a name
/// holds that could lead out of its folder or hide it becomes '_', and a name that is taken gets
/// the index behind it. Errors: as above; a label that is no class of `from`'s labels.txt.
Result<Converted> convert_to_folder(const std::filesystem::path& from,
                                    const std::filesystem::path& into,
                                    const ConvertOptions& options);

}  // namespace sterna::input
