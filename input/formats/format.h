// The formats that a data set's files come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/formats/dataset.h"
#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Pictures that are made up, not read: kSynthetic's.
struct SyntheticPictures {
  PictureShape shape{32, 32, 3};  ///< of each
  std::uint64_t seed = 1;
};

/// What a user says of a data set that its files do not, and where to keep what is made of them.
struct DataOptions {
  std::uint32_t classes = 0;         ///< 0: as labels.txt says
  std::uint32_t label_offset = 0;    ///< what the files' labels are above those that nets see
  std::filesystem::path cache = {};  ///< of indexes and unpacked files
  std::string_view family = {};      ///< of the data set; open_data() sets it
  /// Shell patterns for the names of TFRecord files; empty: told by words in their names.
  std::string train_files = {};
  std::string test_files = {};
  /// Set: these, whatever the folder holds.
  std::optional<SyntheticPictures> synthetic = std::nullopt;
};

/// One format: how a folder of it is known, read and cut. Each has a file of its own and a line in
/// format.cc. Errors are one line that names the file and says what to do.
struct Format {
  std::string_view name;
  /// The files of a split, each of which lies there plain or with ".gz"; null: they have no fixed
  /// names, see `holds`.
  std::vector<std::string> (*files)(Split split);
  /// Into memory; null: see `open`.
  Result<Dataset> (*load)(const std::filesystem::path& dir, Split split);
  /// What is read, at a glance (where there is a `load`, without the family); errors as reading it
  /// has.
  Result<SourceFacts> (*facts)(const std::filesystem::path& dir, Split split,
                               const DataOptions& options);
  /// Writes examples `range` of `whole` as a split of `dir`; each file appears whole or not at all.
  /// Null where there is no `load`.
  Result<void> (*write)(const std::filesystem::path& dir, Split split, const Dataset& whole,
                        const ExampleRange& range);
  /// Where there is no `load`: examples are read when they are asked for.
  Result<std::shared_ptr<const Source>> (*open)(const std::filesystem::path& dir, Split split,
                                                const DataOptions& options) = nullptr;
  /// Without `files`: whether `dir` looks like a data set of this format.
  bool (*holds)(const std::filesystem::path& dir, const DataOptions& options) = nullptr;
  /// Without `files`: names that such a folder has, as shell patterns between blanks; of "a|b" one.
  /// What can be told of a host by a glance; null: nothing can.
  const char* signs = nullptr;
  /// Lays the files with examples `range` of a split of `dir` into the folder `into`, as a data set
  /// of their own with the same classes; see link_or_copy(). `range` is cut where the source's
  /// blocks are (Source::block_of). Null: pictures are made from no files, or see `write`.
  Result<void> (*lay)(const std::filesystem::path& dir, Split split, const ExampleRange& range,
                      const std::filesystem::path& into, const DataOptions& options) = nullptr;
};

/// Those of the format's files that `dir` lacks, of both splits; something, if it has none by name
/// and `dir` does not look like it.
std::vector<std::string> missing_files(const Format& format, const std::filesystem::path& dir,
                                       const DataOptions& options = {});

/// The format of which `dir` lacks the fewest files, none where it has a whole data set; the first
/// where it has none of any. What the options ask for goes before what `dir` looks like.
const Format& format_of(const std::filesystem::path& dir, const DataOptions& options);

/// `invalid_argument` where `dir` has all files of two formats, so that nobody knows which is
/// meant, and the options do not say.
Result<void> check_one_format(const std::filesystem::path& dir, const DataOptions& options = {});

}  // namespace sterna::input
