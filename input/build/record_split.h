// A split of any data set on disk, as the records that TFRecord files would keep of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "input/formats/dataset.h"
#include "input/formats/labels.h"
#include "input/records/example.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Examples by their index, in the order of the data set's files.
struct RecordSplit {
  std::uint64_t count = 0;
  /// What the classes are called; none: the records alone may say.
  std::optional<ClassLabels> labels;
  /// Example `index` < count, with its label. Owns what it reads from; any thread may call it.
  /// Errors name the file.
  std::function<Result<PictureRecord>(std::uint64_t index)> read;
};

/// The split in `dir`: of MNIST's or CIFAR's files, or of TFRecord files, else of a picture folder,
/// whose pictures all train where it has no folder for each split. None: the data set has no such
/// split, which only Split::test may be. Packed TFRecord files are unpacked into `cache`, a folder.
/// Errors: those of the data set's reader.
Result<std::optional<RecordSplit>> open_record_split(const std::filesystem::path& dir, Split split,
                                                     const std::filesystem::path& cache);

}  // namespace sterna::input
