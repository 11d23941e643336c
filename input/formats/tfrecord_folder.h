// A folder of TFRecord files with pictures: train-* and validation-*, or as TensorFlow's scripts
// name them (records/record_files.h). Read by position, from indexes.
#pragma once

#include "input/formats/format.h"

namespace sterna::input {

/// The classes are those of labels.txt beside the files (labels.h), counted from label 0, less
/// DataOptions::label_offset; or DataOptions::classes.
extern const Format kTfRecord;

/// The files of a split, in order: told by their names, or by the options' patterns. Errors:
/// find_record_files' and match_record_files'; invalid_argument for a file that is the other
/// split's, too: what was trained on tests nothing.
Result<std::vector<std::filesystem::path>> record_files(const std::filesystem::path& dir,
                                                        Split split, const DataOptions& options);

}  // namespace sterna::input
