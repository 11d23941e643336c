// A picture, its class and its boxes in a record: a tf.Example with the keys of TensorFlow's
// scripts, or those of plain data sets (`image`, `label`, `id`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What a record may hold, as numbers, texts and features together: each takes far more memory than
/// it has bytes.
inline constexpr std::size_t kMostExampleValues = std::size_t{1} << 20;

/// One example of a data set of pictures. Owns its bytes.
struct PictureRecord {
  Coding coding = Coding::jpeg;
  std::string bytes;                  ///< of the stored picture
  PictureShape shape;                 ///< as the record says; 0 where it does not
  std::optional<std::int64_t> label;  ///< as stored; the originals count from 1
  std::string class_text;             ///< e.g. "tulips"; empty: unknown
  std::string synset = {};  ///< ImageNet's id of the class, e.g. "n01440764"; empty: there is none
  std::vector<Box> boxes;   ///< of the picture as it is stored, whatever its EXIF says
  std::string name;         ///< the picture's file name or id; empty: unknown

  /// A view of `bytes`.
  EncodedPicture picture() const;
};

/// Reads a record's data. Keys: image/encoded or image; image/format (JPEG, PNG or RAW, in any
/// case; where it is missing or says another of the first two, the picture's first bytes decide);
/// image/height, image/width and image/channels (3 if missing); image/class/label or label;
/// image/class/text; image/class/synset; image/object/bbox/{ymin,xmin,ymax,xmax}; image/filename or
/// id. All but the picture may be missing or empty, and other keys are not looked at.
///
/// `malformed`, without the name of a file: no tf.Example; a feature of another kind or with
/// several values; a RAW picture whose bytes are not height x width x channels (1 or 3); boxes with
/// unequal numbers of edges or outside the picture; more than kMostExampleValues.
Result<PictureRecord> parse_picture_record(std::span<const std::uint8_t> data);

/// The data of a record that parse_picture_record reads back: under the originals' keys, the same
/// bytes each time. What is unknown (a shape of 0, no label, an empty text) is left out; a picture
/// of `pixels` is RAW.
std::vector<std::uint8_t> pack_picture_record(const PictureRecord& record);

}  // namespace sterna::input
