// What the classes of a data set are called, where its files or folders say so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

/// "2 of 5 classes have no example to train on: tulips, lilies"; "" where all have. `examples` are
/// those of each class.
std::string without_examples(std::span<const std::uint64_t> examples,
                             const std::optional<ClassLabels>& names);

/// What a labels.txt does that its reader may not know, each in a line: it makes classes that have
/// no name, or of folders of pictures such as have no picture. As far as names alone say. `dir`
/// holds a data set, or pictures of one split. Errors: class_names'.
Result<std::vector<std::string>> class_hints(const std::filesystem::path& dir,
                                             const DataOptions& options);

}  // namespace sterna::input
