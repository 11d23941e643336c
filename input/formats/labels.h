// labels.txt: what a data set's classes are called, in the order of their labels. It lies beside
// the class folders of a picture folder, or beside TFRecord files.
//
// Read in both forms that are about: a name a line, the first for label 0; or TensorFlow's
// "id:name" a line, in any order. Written in the second, which says where the labels begin. A name
// may hold a ':', as in "4:3"; but no file whose lines are of both forms is taken for names where
// one of the ids is that of its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

inline constexpr std::string_view kLabelsFile = "labels.txt";
/// A label has 16 bits.
inline constexpr std::size_t kMostClasses = 65'536;

/// The names of labels first, first + 1 and so on. No two are the same, none is empty.
struct ClassLabels {
  std::vector<std::string> names;
  std::uint16_t first = 0;
  bool operator==(const ClassLabels&) const = default;
};

/// Errors: those of opening a file; `malformed`, naming the line, for an empty or repeated name, an
/// id twice, ids with a gap, no names, labels above 65,535, or a line that has no id where others
/// seem to have one.
Result<ClassLabels> read_labels(const std::filesystem::path& path);

/// Whether a name holds the end of a line, so that it would not be one in such a file.
bool breaks_a_line(std::string_view name);

/// Writes "id:name" lines, atomically. invalid_argument for a name that holds the end of a line.
Result<void> write_labels(const std::filesystem::path& path, const ClassLabels& labels);

}  // namespace sterna::input
