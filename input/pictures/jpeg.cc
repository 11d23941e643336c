#include "input/pictures/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "input/pictures/exif.h"
#include "input/pictures/jpeg_errors.h"
#include "input/pictures/pixels.h"
#include "input/pictures/trap.h"

namespace sterna::input {

namespace {

// Encoders write about ten. Without a bound a small file could ask for the work of decoding a large
// picture thousands of times: a scan without data still visits each of the picture's blocks.
constexpr std::uint64_t kMostScans = 100;
/// Of all scans beyond those that a picture may have at any size.
constexpr std::uint64_t kMostPixelScans = std::uint64_t{1} << 29;
// Of libjpeg's own, beyond a picture's coefficients.
constexpr std::uint64_t kSlackBytes = std::uint64_t{64} << 20;

/// One picture in decoding: all that libjpeg works on, out of reach of its jumps.
struct JpegReader {
  explicit JpegReader(std::span<const std::uint8_t> from) : bytes(from) {
    errors.watch(jpeg, trap);
    jpeg.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Trap trap;
  JpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg_progress_mgr progress{};
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint8_t> exif;  // an APP1 segment, if there is one
  Region part;                         // of the stored, shrunken picture: what is read
  std::vector<std::uint8_t> row;       // one, as libjpeg gives it
  Picture picture;                     // of `part`
};

Error malformed(const JpegReader& reader) {
  return {Errc::malformed,
          fmt::format("a JPEG that cannot be decoded: {}", reader.trap.message.data())};
}

/// Keeps where the first EXIF segment is. libjpeg's own way to keep segments takes time in the
/// square of their number.
boolean note_app1(j_decompress_ptr jpeg) {
  jpeg_source_mgr& source = *jpeg->src;
  if (source.bytes_in_buffer < 2) ERREXIT(jpeg, JERR_INPUT_EOF);
  const std::size_t length =
      std::size_t{source.next_input_byte[0]} << 8 | source.next_input_byte[1];
  if (length < 2) ERREXIT(jpeg, JERR_BAD_LENGTH);
  const std::span segment(source.next_input_byte + 2, std::min(length, source.bytes_in_buffer) - 2);
  JpegReader& reader = *static_cast<JpegReader*>(jpeg->client_data);
  if (reader.exif.empty() && is_exif(segment)) reader.exif = segment;
  source.skip_input_data(jpeg, static_cast<long>(length));
  return TRUE;
}

/// libjpeg itself writes 10 of three channels, and 2 + 4 of each of any; encoders that look for the
/// shortest file some more.
std::uint64_t most_scans(const jpeg_decompress_struct& jpeg) {
  constexpr std::uint64_t kBlocks = 16;  // pixels of a side, which are visited as a whole
  const auto whole = [](std::uint64_t side) { return (side + kBlocks - 1) / kBlocks * kBlocks; };
  const std::uint64_t pixels =
      std::max<std::uint64_t>(whole(jpeg.image_width) * whole(jpeg.image_height), 1);
  const auto any_size =
      std::max<std::uint64_t>(10, 8 * static_cast<std::uint64_t>(jpeg.num_components));
  return std::clamp(kMostPixelScans / pixels, any_size, kMostScans);
}

void bound_scans(j_common_ptr common) {
  const auto& jpeg = *reinterpret_cast<j_decompress_ptr>(common);
  if (static_cast<std::uint64_t>(jpeg.input_scan_number) > most_scans(jpeg))
    JpegErrors::of(common).trap->fail("it has more scans than anyone writes");
}

void read_header(JpegReader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg_create_decompress(&jpeg);
  reader.progress.progress_monitor = bound_scans;
  jpeg.progress = &reader.progress;
  jpeg_set_marker_processor(&jpeg, JPEG_APP0 + 1, note_app1);
  jpeg_mem_src(&jpeg, reader.bytes.data(), reader.bytes.size());
  jpeg_read_header(&jpeg, TRUE);
}

Result<void> open(JpegReader& reader, std::uint64_t most_pixels) {
  if (!trapped(reader, read_header)) return malformed(reader);
  const jpeg_decompress_struct& jpeg = reader.jpeg;
  STERNA_TRY(check_size(jpeg.image_height, jpeg.image_width, most_pixels));
  if (jpeg.jpeg_color_space != JCS_UNKNOWN) return {};
  return Error{Errc::malformed, fmt::format("a JPEG of {} channels", jpeg.num_components)};
}

PictureShape stored_shape(const jpeg_decompress_struct& jpeg) {
  return {jpeg.image_height, jpeg.image_width, jpeg.num_components == 1 ? 1U : 3U};
}

bool has_inks(const jpeg_decompress_struct& jpeg) { return jpeg.num_components == 4; }

/// How libjpeg gives the colours: as they are wanted, or for four channels as CMYK.
J_COLOR_SPACE given_colors(const jpeg_decompress_struct& jpeg, std::uint32_t channels) {
  if (has_inks(jpeg)) return JCS_CMYK;
  return channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

void start(JpegReader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.dct_method = JDCT_ISLOW;
  // It guesses what a picture that was not told in full may look like, from blocks that the reading
  // of a region does not know.
  jpeg.do_block_smoothing = FALSE;
  jpeg_start_decompress(&jpeg);
}

/// A pixel of CMYK is the light that its inks let through: Adobe stores that, others the ink.
void convert_cmyk(const std::uint8_t* from, bool light, std::span<std::uint8_t> to,
                  std::uint32_t channels) {
  const std::uint32_t flip = light ? 0 : 255;
  for (std::size_t i = 0; i < to.size(); i += channels, from += 4) {
    const std::uint32_t black = from[3] ^ flip;
    const auto color = [&](std::size_t c) {
      return static_cast<std::uint8_t>(((from[c] ^ flip) * black + 127) / 255);
    };
    if (channels == 1) {
      to[i] = grey_of(color(0), color(1), color(2));
    } else {
      for (std::size_t c = 0; c < 3; ++c) to[i + c] = color(c);
    }
  }
}

/// Whether libjpeg can leave out columns. Where it shrinks a channel of fewer samples less than the
/// others and has to spread it all the same (4:1:0 at 1/2), 2.1.5 gets the number of columns wrong.
bool can_crop(const jpeg_decompress_struct& jpeg) {
  const int size = jpeg.min_DCT_scaled_size;
  const std::span channels(jpeg.comp_info, static_cast<std::size_t>(jpeg.num_components));
  return std::ranges::all_of(channels, [&](const jpeg_component_info& channel) {
    const int its_size = channel.DCT_scaled_size;
    return its_size == size || (its_size * channel.h_samp_factor == size * jpeg.max_h_samp_factor &&
                                its_size * channel.v_samp_factor == size * jpeg.max_v_samp_factor);
  });
}

void read_part(JpegReader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  const Region& part = reader.part;
  JDIMENSION first = 0;
  if (part.columns < jpeg.output_width && can_crop(jpeg)) {
    // A sample of colour at the edge of what is read is spread as at the edge of the picture: read
    // one more on both sides. libjpeg moves `first` on to the left, to where a block begins.
    const auto margin = static_cast<JDIMENSION>(jpeg.max_h_samp_factor);
    first = part.left - std::min(part.left, margin);
    JDIMENSION columns = std::min(part.left + part.columns + margin, jpeg.output_width) - first;
    jpeg_crop_scanline(&jpeg, &first, &columns);
  }
  if (part.top > 0) jpeg_skip_scanlines(&jpeg, part.top);
  const auto given_channels = static_cast<std::size_t>(jpeg.output_components);
  const std::uint8_t* wanted = reader.row.data() + (part.left - first) * given_channels;
  const std::uint32_t channels = reader.picture.shape.channels;
  const std::size_t row_bytes = std::size_t{part.columns} * channels;
  std::uint8_t* to = reader.picture.pixels.data();
  for (std::uint32_t row = 0; row < part.rows; ++row, to += row_bytes) {
    JSAMPROW into = reader.row.data();
    jpeg_read_scanlines(&jpeg, &into, 1);
    if (jpeg.out_color_space == JCS_CMYK) {
      convert_cmyk(wanted, jpeg.saw_Adobe_marker != 0, {to, row_bytes}, channels);
    } else {
      std::copy_n(wanted, row_bytes, to);
    }
  }
}

/// Whether pixels are made up, as the data ended before they were told. Where a scan may be missing
/// as a whole, and of arithmetic coding, only the bytes' end tells.
bool cut_short(const JpegReader& reader) {
  const jpeg_decompress_struct& jpeg = reader.jpeg;
  const bool one_scan = jpeg.progressive_mode == 0 && jpeg.comps_in_scan == jpeg.num_components;
  return reader.errors.data_missing ||
         (reader.errors.bytes_ended && (!one_scan || jpeg.arith_code != 0));
}

}  // namespace

Result<PictureShape> jpeg_shape(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels) {
  JpegReader reader(bytes);
  STERNA_TRY(open(reader, most_pixels));
  return upright(stored_shape(reader.jpeg), exif_orientation(reader.exif));
}

Result<bool> jpeg_has_inks(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels) {
  JpegReader reader(bytes);
  STERNA_TRY(open(reader, most_pixels));
  return has_inks(reader.jpeg);
}

Orientation jpeg_orientation(std::span<const std::uint8_t> bytes) {
  JpegReader reader(bytes);
  if (!trapped(reader, read_header)) return {};
  return exif_orientation(reader.exif);
}

Result<Picture> decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  JpegReader reader(bytes);
  STERNA_TRY(open(reader, options.most_pixels));
  jpeg_decompress_struct& jpeg = reader.jpeg;
  const Orientation orientation = exif_orientation(reader.exif);
  const PictureShape whole = shrunken(stored_shape(jpeg), options.shrink);
  STERNA_ASSIGN(const Region wanted, region_in(upright(whole, orientation), options.region));

  reader.part = stored_region(wanted, whole, orientation);
  jpeg.out_color_space = given_colors(jpeg, options.channels);
  jpeg.scale_num = 1;
  jpeg.scale_denom = options.shrink;
  // Two bytes for each of four channels, which no sampling makes more than a picture's pixels.
  const std::uint64_t pixels = std::uint64_t{jpeg.image_height} * jpeg.image_width;
  jpeg.mem->max_memory_to_use = static_cast<long>(8 * pixels + kSlackBytes);
  if (!trapped(reader, start)) return malformed(reader);

  reader.row.resize(std::size_t{jpeg.output_width} *
                    static_cast<std::size_t>(jpeg.output_components));
  reader.picture.shape = {reader.part.rows, reader.part.columns, options.channels};
  reader.picture.pixels.resize(reader.picture.shape.bytes());
  if (!trapped(reader, read_part)) return malformed(reader);
  if (cut_short(reader)) return Error{Errc::malformed, "a JPEG that is cut short"};
  return upright(std::move(reader.picture), orientation);
}

}  // namespace sterna::input
