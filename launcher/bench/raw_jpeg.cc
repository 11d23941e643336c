#include "launcher/bench/raw_jpeg.h"

#include <cstddef>
#include <string>

#include "input/pictures/jpeg_errors.h"
#include "input/pictures/trap.h"

namespace sterna::launcher {

namespace {

struct RawReader {
  explicit RawReader(std::span<const std::uint8_t> from) : bytes(from) { errors.watch(jpeg, trap); }
  ~RawReader() { jpeg_destroy_decompress(&jpeg); }
  RawReader(const RawReader&) = delete;
  RawReader& operator=(const RawReader&) = delete;

  input::Trap trap;
  input::JpegErrors errors;
  jpeg_decompress_struct jpeg{};
  std::span<const std::uint8_t> bytes;
  std::uint8_t* to = nullptr;
};

void start(RawReader& reader) {
  jpeg_create_decompress(&reader.jpeg);
  jpeg_mem_src(&reader.jpeg, reader.bytes.data(), reader.bytes.size());
  jpeg_read_header(&reader.jpeg, TRUE);
  reader.jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&reader.jpeg);
}

void read_rows(RawReader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = reader.to + std::size_t{jpeg.output_scanline} * jpeg.output_width * 3;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
}

Error refused(const RawReader& reader) {
  return {Errc::malformed,
          std::string("a JPEG that libjpeg cannot decode: ") + reader.trap.message.data()};
}

}  // namespace

Result<void> decode_raw(std::span<const std::uint8_t> jpeg, std::vector<std::uint8_t>& pixels) {
  RawReader reader(jpeg);
  if (!input::trapped(reader, start)) return refused(reader);
  pixels.resize(std::size_t{reader.jpeg.output_height} * reader.jpeg.output_width * 3);
  reader.to = pixels.data();
  if (!input::trapped(reader, read_rows)) return refused(reader);
  return {};
}

}  // namespace sterna::launcher
