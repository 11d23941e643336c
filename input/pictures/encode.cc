#include "input/pictures/encode.h"

#include <fmt/format.h>
#include <png.h>

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <span>

#include "input/pictures/jpeg_errors.h"
#include "input/pictures/trap.h"

namespace sterna::input {

namespace {

/// One picture in encoding: all that libjpeg works on, out of reach of its jumps.
struct JpegWriter {
  JpegWriter(const Picture& from, int of_quality) : picture(from), quality(of_quality) {
    errors.watch(jpeg, trap);
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg);
    std::free(bytes);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Trap trap;
  JpegErrors errors;
  jpeg_compress_struct jpeg{};
  const Picture& picture;
  int quality;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's
};

void write(JpegWriter& writer) {
  jpeg_compress_struct& jpeg = writer.jpeg;
  const PictureShape& shape = writer.picture.shape;
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, &writer.bytes, &writer.size);
  jpeg.image_height = shape.rows;
  jpeg.image_width = shape.columns;
  jpeg.input_components = static_cast<int>(shape.channels);
  jpeg.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, writer.quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  const std::size_t row_bytes = std::size_t{shape.columns} * shape.channels;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    // libjpeg reads from it, but takes no const.
    JSAMPROW from = const_cast<JSAMPROW>(writer.picture.pixels.data() + row * row_bytes);
    jpeg_write_scanlines(&jpeg, &from, 1);
  }
  jpeg_finish_compress(&jpeg);
}

Error refused(const char* coding, const PictureShape& shape, const char* why) {
  return {Errc::invalid_argument, fmt::format("a picture of {} x {} pixels is no {}: {}",
                                              shape.rows, shape.columns, coding, why)};
}

}  // namespace

Result<std::vector<std::uint8_t>> encode_png(const Picture& picture) {
  const PictureShape& shape = picture.shape;
  assert(picture.pixels.size() == shape.bytes() && (shape.channels == 1 || shape.channels == 3));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = shape.columns;
  image.height = shape.rows;
  image.format = shape.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (shape.bytes() == 0) return refused("PNG", shape, "it has no pixels");
  std::vector<std::uint8_t> bytes(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = bytes.size();
  const int written =
      png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0, nullptr);
  if (written == 0) return refused("PNG", shape, image.message);
  bytes.resize(size);
  return bytes;
}

Result<std::vector<std::uint8_t>> encode_jpeg(const Picture& picture, int quality) {
  const PictureShape& shape = picture.shape;
  assert(picture.pixels.size() == shape.bytes() && (shape.channels == 1 || shape.channels == 3));
  JpegWriter writer(picture, quality);
  if (!trapped(writer, write)) return refused("JPEG", shape, writer.trap.message.data());
  return std::vector<std::uint8_t>(writer.bytes, writer.bytes + writer.size);
}

}  // namespace sterna::input
