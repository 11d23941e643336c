// What becomes of each picture of a folder of awkward ones, such as jpeg-odd: index.csv names the
// files, and X.png beside X.jpg shows what other decoders made of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "input/pictures/picture.h"

namespace sterna::input {

struct OddPicture {
  std::string file;                                  ///< its path in the folder
  std::optional<Coding> coding = std::nullopt;       ///< none: neither a JPEG nor a PNG
  std::optional<PictureShape> shape = std::nullopt;  ///< none: it did not decode
  std::string error = "";                            ///< why not
  bool has_reference = false;                        ///< it is named .jpg, and a PNG stands beside
  std::optional<int> difference =
      std::nullopt;  ///< from the reference: the largest of any pixel, of 255
};

/// The largest of any two bytes; none where the shapes differ.
std::optional<int> difference(const Picture& a, const Picture& b);

/// In the order of `folder`/index.csv.
std::vector<OddPicture> odd_pictures(const std::filesystem::path& folder);

/// A line for each.
std::string table_of(const std::vector<OddPicture>& pictures);

}  // namespace sterna::input
