// What is known of a build's pictures beside themselves, as ImageNet has it: what its class
// folders, which are synsets, are called, and where in a picture something of its class is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "input/files/sha256.h"
#include "input/formats/picture_folder.h"
#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

class Annotations {
 public:
  /// `names`: a file with a line for each class, and maybe for others: its folder, white space, and
  /// what it is called. `boxes`: a folder of box files (box_file.h), CLASS/PICTURE.xml or
  /// PICTURE.xml. Either may be empty. Errors: read_file's; `malformed` for a line without a name;
  /// `not_found` for a class that the file does not name, or a folder that is none.
  static Result<Annotations> open(const std::filesystem::path& names,
                                  const std::filesystem::path& boxes,
                                  const std::vector<std::string>& classes);

  /// By label. Two that the file calls alike are told apart by their folders.
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Of a class with a name of its own: its folder. Else empty.
  std::string synset_of(std::uint16_t label) const;
  /// Around what is of the picture's class, or of something that is no class here: ImageNet's dogs
  /// have boxes by their breeds' names. They are of the picture as it is stored, whatever its EXIF
  /// says. None where the picture has no file. Errors: read_boxes'.
  Result<std::vector<Box>> boxes_of(const PictureFolder::Picture& picture) const;
  /// A line on all that boxes_of() will read for these pictures, with the files' sizes and times;
  /// empty: there is no folder of boxes. `not_found` where no picture for training has a file;
  /// those that validate may have none.
  Result<std::string> note_of(const PictureFolder& train, const PictureFolder& validation) const;
  /// A line on the names; empty: there are none.
  const std::string& note_of_names() const { return note_of_names_; }

 private:
  /// Adds their names, sizes and times; how many there are.
  Result<std::size_t> add_box_files(const PictureFolder& folder, Sha256& sum) const;
  std::filesystem::path box_file(const PictureFolder::Picture& picture) const;

  std::filesystem::path boxes_;
  std::vector<std::string> folders_;  ///< of the classes, by label
  std::vector<std::string> class_names_;
  std::string note_of_names_;
};

}  // namespace sterna::input
