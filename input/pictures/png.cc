#include "input/pictures/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "input/pictures/pixels.h"
#include "input/pictures/trap.h"

namespace sterna::input {

namespace {

using std::string_view_literals::operator""sv;

// Chunks, each name with its end. Nothing of them is needed, and what they hold may be compressed a
// thousandfold.
constexpr std::string_view kPassedOver =
    "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0"
    "zTXt\0"sv;
constexpr std::size_t kNameBytes = 5;
static_assert(kPassedOver.size() == 16 * kNameBytes);
constexpr std::size_t kMostChunkBytes = std::size_t{1} << 20;
constexpr std::uint32_t kMostReadSide = 1U << 30;  // check_size() refuses in words of its own

/// One picture in decoding: all that libpng works on, out of reach of its jumps.
struct PngReader {
  explicit PngReader(std::span<const std::uint8_t> from) : bytes(from) {}
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Trap trap;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::uint8_t> bytes;  // not yet read
  std::uint32_t given_channels = 0;     // as libpng gives rows
  std::vector<std::uint8_t> rows;       // one, or all of an interlaced picture
  Region part;                          // what is wanted
  Picture picture;                      // of `part`
};

void fail(png_structp png, png_const_charp why) {
  static_cast<PngReader*>(png_get_error_ptr(png))->trap.fail(why);
}

void give_bytes(png_structp png, png_bytep into, std::size_t size) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (size > reader.bytes.size()) png_error(png, "cut short");
  std::copy_n(reader.bytes.data(), size, into);
  reader.bytes = reader.bytes.subspan(size);
}

Error malformed(const PngReader& reader) {
  return {Errc::malformed,
          fmt::format("a PNG that cannot be decoded: {}", reader.trap.message.data())};
}

void read_header(PngReader& reader) {
  reader.png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, fail, [](png_structp, auto) {});
  if (reader.png == nullptr) return;
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return;
  png_set_read_fn(reader.png, &reader, give_bytes);
  png_set_user_limits(reader.png, kMostReadSide, kMostReadSide);
  png_set_chunk_malloc_max(reader.png, kMostChunkBytes);
  png_set_crc_action(reader.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER,
                              reinterpret_cast<png_const_bytep>(kPassedOver.data()),
                              static_cast<int>(kPassedOver.size() / kNameBytes));
  png_read_info(reader.png, reader.info);
}

Result<PictureShape> open(PngReader& reader, std::uint64_t most_pixels) {
  if (!trapped(reader, read_header)) return malformed(reader);
  if (reader.info == nullptr) return Error{Errc::unavailable, "no memory to decode a PNG"};
  const PictureShape shape{
      png_get_image_height(reader.png, reader.info), png_get_image_width(reader.png, reader.info),
      png_get_color_type(reader.png, reader.info) & PNG_COLOR_MASK_COLOR ? 3U : 1U};
  STERNA_TRY(check_size(shape.rows, shape.columns, most_pixels));
  return shape;
}

/// Rows of 8 bits a channel, grey or RGB.
void start(PngReader& reader) {
  png_set_expand_gray_1_2_4_to_8(reader.png);
  png_set_palette_to_rgb(reader.png);
  png_set_scale_16(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  reader.given_channels = png_get_channels(reader.png, reader.info);
}

/// Converts the wanted part of a row of the stored picture.
void take(PngReader& reader, const std::uint8_t* row, std::uint32_t number) {
  const Region& part = reader.part;
  const std::uint32_t channels = reader.picture.shape.channels;
  const std::size_t row_bytes = std::size_t{part.columns} * channels;
  convert_channels({row + std::size_t{part.left} * reader.given_channels,
                    std::size_t{part.columns} * reader.given_channels},
                   reader.given_channels,
                   {reader.picture.pixels.data() + (number - part.top) * row_bytes, row_bytes},
                   channels);
}

void read_rows(PngReader& reader) {
  const std::uint32_t height = png_get_image_height(reader.png, reader.info);
  const std::uint32_t end = reader.part.top + reader.part.rows;
  for (std::uint32_t row = 0; row < end; ++row) {
    png_read_row(reader.png, reader.rows.data(), nullptr);
    if (row >= reader.part.top) take(reader, reader.rows.data(), row);
  }
  if (end == height) png_read_end(reader.png, nullptr);
}

void read_interlaced(PngReader& reader) {
  const std::uint32_t height = png_get_image_height(reader.png, reader.info);
  const std::size_t row_bytes = png_get_rowbytes(reader.png, reader.info);
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    for (std::uint32_t row = 0; row < height; ++row)
      png_read_row(reader.png, reader.rows.data() + row * row_bytes, nullptr);
  }
  png_read_end(reader.png, nullptr);
  for (std::uint32_t row = 0; row < reader.part.rows; ++row) {
    const std::uint32_t number = reader.part.top + row;
    take(reader, reader.rows.data() + number * row_bytes, number);
  }
}

}  // namespace

Result<PictureShape> png_shape(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels) {
  PngReader reader(bytes);
  return open(reader, most_pixels);
}

Result<Picture> decode_png(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  PngReader reader(bytes);
  STERNA_ASSIGN(const PictureShape stored, open(reader, options.most_pixels));
  STERNA_ASSIGN(reader.part, region_in(stored, options.region));
  if (!trapped(reader, start)) return malformed(reader);

  const bool interlaced = png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE;
  reader.rows.resize(png_get_rowbytes(reader.png, reader.info) * (interlaced ? stored.rows : 1));
  reader.picture.shape = {reader.part.rows, reader.part.columns, options.channels};
  reader.picture.pixels.resize(reader.picture.shape.bytes());
  if (!trapped(reader, interlaced ? read_interlaced : read_rows)) return malformed(reader);
  return std::move(reader.picture);
}

}  // namespace sterna::input
