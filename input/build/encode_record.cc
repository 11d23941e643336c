#include "input/build/encode_record.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "input/augment/scale.h"
#include "input/pictures/decode.h"
#include "input/pictures/encode.h"
#include "input/pictures/jpeg.h"

namespace sterna::input {

namespace {

constexpr int kBestQuality = 100;

std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

PictureRecord record_of(Coding coding, const PictureShape& shape,
                        std::span<const std::uint8_t> bytes) {
  PictureRecord record;
  record.coding = coding;
  record.shape = shape;
  record.bytes = text_of(bytes);
  return record;
}

}  // namespace

Result<bool> stays_jpeg(const EncodedPicture& picture) {
  if (picture.coding != Coding::jpeg) return false;
  STERNA_ASSIGN(const bool inks, jpeg_has_inks(picture.bytes, kMostPixels));
  return !inks;
}

Result<PictureRecord> jpeg_record(const StoredExample& example) {
  const EncodedPicture& stored = example.picture;
  STERNA_ASSIGN(const bool kept, stays_jpeg(stored));
  if (!kept) {
    STERNA_ASSIGN(const Picture picture, decode(stored, {}));
    STERNA_ASSIGN(const std::vector<std::uint8_t> bytes, encode_jpeg(picture, kBestQuality));
    return record_of(Coding::jpeg, picture.shape, bytes);
  }
  // Shrunken, all of the bytes are read, and little of the rest is done.
  STERNA_TRY(decode(stored, {.shrink = 8}));
  STERNA_ASSIGN(const PictureShape shape, shape_of(stored, kMostPixels));
  return record_of(Coding::jpeg, shape, stored.bytes);
}

Result<PictureRecord> raw_record(const StoredExample& example, std::uint32_t side) {
  const EncodedPicture& stored = example.picture;
  if (side == 0) {
    STERNA_ASSIGN(const Picture picture, decode(stored, {}));
    return record_of(Coding::pixels, picture.shape, picture.pixels);
  }
  STERNA_ASSIGN(const PictureShape from, shape_of(stored, kMostPixels));
  Picture picture{{side, side, 3}, {}};
  picture.pixels.resize(picture.shape.bytes());
  const Scaling squash{.part = {.rows = from.rows, .columns = from.columns},
                       .rows = side,
                       .columns = side,
                       .window = {.rows = side, .columns = side},
                       // The scripts' imresize is the imaging library's, which does the same.
                       .filter = Filter::triangle};
  STERNA_TRY(scale(stored, from, squash, picture.shape.channels, kMostPixels, picture.pixels));
  return record_of(Coding::pixels, picture.shape, picture.pixels);
}

Result<PictureRecord> file_record(const StoredExample& example) {
  const EncodedPicture& stored = example.picture;
  STERNA_ASSIGN(const PictureShape shape, shape_of(stored, kMostPixels));
  if (stored.coding != Coding::pixels) return record_of(stored.coding, shape, stored.bytes);
  const Picture picture{shape, {stored.bytes.begin(), stored.bytes.end()}};
  STERNA_ASSIGN(const std::vector<std::uint8_t> bytes, encode_png(picture));
  return record_of(Coding::png, shape, bytes);
}

}  // namespace sterna::input
