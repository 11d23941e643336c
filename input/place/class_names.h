// What the classes of a data set are called, where its files or folders say so.
#pragma once

#include <filesystem>
#include <optional>

#include "input/formats/format.h"
#include "input/formats/labels.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What a file in `dir` calls the labels of the files there: ours, CIFAR-10's or CIFAR-100's. None:
/// there is no such file. Errors: read_labels'.
Result<std::optional<ClassLabels>> labels_in(const std::filesystem::path& dir);

/// The names of the labels that nets see of the data set in `dir`. None: nothing names them.
/// Errors: read_labels' and list_picture_folder's.
Result<std::optional<ClassLabels>> class_names(const std::filesystem::path& dir,
                                               const DataOptions& options);

}  // namespace sterna::input
