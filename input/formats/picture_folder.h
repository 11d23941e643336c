// A data set as a folder for each class of JPEG and PNG pictures: `roses/1.jpg`, `tulips/7.png`.
// What is in it is a function of the names alone, never of the order in which a disk lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// The pictures of one split, not yet read. Plain data.
struct PictureFolder {
  struct Picture {
    std::filesystem::path path;
    std::uint16_t label = 0;  ///< < classes.size()
  };
  std::vector<std::string> classes;  ///< by label
  std::vector<Picture> pictures;     ///< sorted by class name, then by file name
};

/// What names these pictures to who has a folder of them on another machine, as hexadecimal: the
/// SHA-256 over the classes by label, then each picture's label, class, file name, size and both
/// ends (file_mark.h; of more than 65,536 files, those of every second, third ... one). Labels, as
/// a labels.txt decides them: with the same files and another one, it is other data. Errors: those
/// of looking into a file, which name it.
Result<std::string> sha256_of(const PictureFolder& folder);

/// The same with the time of each file, and the ends of all: another where any was written again
/// since, on this machine alone.
Result<std::string> sha256_here(const PictureFolder& folder);

/// Whether a file of this name is taken for a picture: it ends in .jpg, .jpeg or .png, in any case.
bool is_picture(const std::string& name);

/// Lists the class folders of `dir`, and in each its pictures. Labels count the classes by name
/// from 0, or in the order of a labels.txt in `dir`, or else in the folder around it, which may
/// name more classes than there are folders: a small split lacks some. Hidden names, and files
/// beside the class folders, are passed over. Errors: those of names_in and read_labels; not_found
/// (no class folder, or one without a picture, or with a link for one that leads nowhere);
/// invalid_argument (a labels.txt that names other classes; more than kMostClasses; a folder whose
/// name holds the end of a line).
Result<PictureFolder> list_picture_folder(const std::filesystem::path& dir);

/// Where `dir` has a folder for each split: `train`, and beside it `val`, `valid`, `validation` or
/// `test` for Split::test, the first of them. None: it has no such folder.
std::optional<std::filesystem::path> split_folder(const std::filesystem::path& dir, Split split);

/// The pictures of a split that has a folder of its own (split_folder), else none. A test split's
/// labels are those that its classes have in training; it may lack some. Errors: those of
/// list_picture_folder; invalid_argument for a class that is not trained.
Result<std::optional<PictureFolder>> list_split(const std::filesystem::path& dir, Split split);

/// The bytes of picture `index` (< folder.pictures.size()), which the example owns; its first ones
/// say whether it is a JPEG or a PNG, whatever its name does. Errors: those of read_file, at most
/// kMostRecordBytes; `malformed` where it is neither.
Result<StoredExample> read_picture(const PictureFolder& folder, std::uint64_t index);

}  // namespace sterna::input
