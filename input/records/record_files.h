// Which files of a folder are a data set's TFRecord files: told by their names, as TensorFlow's
// scripts give them.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// The words in a file's name, between `-`, `_` and `.`, that say which split it belongs to.
inline constexpr std::array<std::string_view, 1> kTrainingWords{"train"};
inline constexpr std::array<std::string_view, 4> kTestWords{"test", "validation", "valid", "val"};

/// The names of the files in `dir` that are taken for TFRecord's and have one of `words` in them,
/// in order; of no words all. Errors: those of names_in.
Result<std::vector<std::string>> record_names(const std::filesystem::path& dir,
                                              std::span<const std::string_view> words);

/// The files in `dir` that have one of `words` in their names, in order: one set of
/// `train-00000-of-00002` and its like (`flowers_train_00000-of-00005.tfrecord`), or one file
/// (`cifar10_train.tfrecord`, `train-mnist.tfrecord`), each perhaps packed (`.gz`, `.zlib`).
/// Errors: not_found (the folder, any such file, or a file of a numbered set) and invalid_argument
/// (files of several sets).
Result<std::vector<std::filesystem::path>> find_record_files(
    const std::filesystem::path& dir, std::span<const std::string_view> words);

/// The files in `dir` whose names fit the shell pattern `pattern` ("*", "?", "[...]"), in order;
/// its folders, if it names any, are taken as they are written. Whoever names files may leave some
/// of a numbered set out: one worker's, say. Errors: not_found; invalid_argument where they are of
/// sets of different numbers of files.
Result<std::vector<std::filesystem::path>> match_record_files(const std::filesystem::path& dir,
                                                              std::string_view pattern);

}  // namespace sterna::input
