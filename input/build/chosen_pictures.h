// Which pictures of a folder train, which validate, and in what order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "input/formats/picture_folder.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Two splits with the same classes. Plain data.
struct ChosenPictures {
  PictureFolder train;
  PictureFolder validation;  ///< without pictures: nothing validates
};

/// The pictures of `dir`, each split in its shuffled order: its train and validation folders, or
/// where it has no validation folder, `share` of each class (rounded, and never all of it)
/// validates. A function of the names, the share and the seed. Errors: list_picture_folder's;
/// invalid_argument where the two folders have different classes.
Result<ChosenPictures> choose_pictures(const std::filesystem::path& dir, double share,
                                       std::uint64_t seed);

}  // namespace sterna::input
