// A picture's boxes as ImageNet's and Pascal VOC's annotations have them: an XML file for each.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// A box, and what it is around: in ImageNet a synset, or what people call it.
struct NamedBox {
  std::string name;
  Box box;
  bool operator==(const NamedBox&) const = default;
};

/// The boxes of an annotation, as parts of the size that it says. As TensorFlow's script has it,
/// edges beyond the picture are moved to its border, edges in the wrong order are exchanged, and
/// boxes without an area are left out. `malformed`, without the name of the file: no XML of this
/// kind; a size or an edge that is missing or no number.
Result<std::vector<NamedBox>> parse_boxes(std::string_view xml);

/// Errors: read_file's, and `malformed` with the file's name.
Result<std::vector<NamedBox>> read_boxes(const std::filesystem::path& path);

}  // namespace sterna::input
