// A stored picture as the record that data sets of TFRecord files keep of it.
#pragma once

#include <cstdint>

#include "input/formats/source.h"
#include "input/records/example.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Whether jpeg_record keeps the picture's own bytes: it is a JPEG, and not one of inks (CMYK,
/// YCCK). Errors: decoding's.
Result<bool> stays_jpeg(const EncodedPicture& picture);

/// The picture as a JPEG: its own bytes, after all of them were decoded once; or, as TensorFlow's
/// scripts do it, of PNG, of pixels and of a JPEG of inks (CMYK, YCCK), one of quality 100 in RGB.
/// The shape is the upright picture's. Label, text and name are the caller's to set. Errors:
/// decoding's and encode_jpeg's.
Result<PictureRecord> jpeg_record(const StoredExample& example);

/// The picture decoded to RGB (format RAW), upright: at its own size, or where `side` is not 0
/// squashed to side x side pixels. Errors: decoding's.
Result<PictureRecord> raw_record(const StoredExample& example, std::uint32_t side);

/// The picture without loss: a file as it is and undecoded, pixels as a PNG. The shape is the
/// upright picture's. Errors: shape_of's and encode_png's.
Result<PictureRecord> file_record(const StoredExample& example);

}  // namespace sterna::input
