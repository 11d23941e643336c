#include "made_pictures.h"

#include <cstddef>
#include <cstdio>  // before jpeglib.h, which needs its FILE

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace sterna::input {

namespace {

/// What one pixel is in the channels of a form; four bytes at most.
void put_pixel(const std::uint8_t* from, const JpegForm& form, std::uint8_t* to) {
  if (form.colors != Colors::cmyk && form.colors != Colors::ycck) {
    std::copy_n(from, form.colors == Colors::grey ? 1 : 3, to);
    return;
  }
  // All that is black in a colour becomes the fourth ink.
  const std::uint8_t light = std::max({from[0], from[1], from[2], std::uint8_t{1}});
  for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>(from[c] * 255 / light);
  to[3] = light;
  if (!form.adobe) std::transform(to, to + 4, to, [](std::uint8_t v) { return 255 - v; });
}

J_COLOR_SPACE space_of(Colors colors) {
  switch (colors) {
    case Colors::grey:
      return JCS_GRAYSCALE;
    case Colors::ycc:
      return JCS_YCbCr;
    case Colors::rgb:
      return JCS_RGB;
    case Colors::cmyk:
      return JCS_CMYK;
    case Colors::ycck:
      break;
  }
  return JCS_YCCK;
}

}  // namespace

Picture made_picture(const PictureShape& shape) {
  Picture picture{shape, {}};
  std::uint32_t noise = 1;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (std::uint32_t column = 0; column < shape.columns; ++column) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        noise = noise * 1664525 + 1013904223;
        const double wave = std::sin(0.11 * row + c) + std::cos(0.07 * column - 2.0 * c);
        picture.pixels.push_back(static_cast<std::uint8_t>(120 + 50 * wave + (noise >> 28)));
      }
    }
  }
  return picture;
}

Bytes make_jpeg(const Picture& picture, const JpegForm& form) {
  jpeg_error_mgr errors{};
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors);  // prints and exits: a mistake of the test's
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_height = picture.shape.rows;
  jpeg.image_width = picture.shape.columns;
  const bool four = form.colors == Colors::cmyk || form.colors == Colors::ycck;
  jpeg.input_components = form.colors == Colors::grey ? 1 : four ? 4 : 3;
  jpeg.in_color_space = form.colors == Colors::grey ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, space_of(form.colors));
  jpeg_set_quality(&jpeg, 90, TRUE);
  for (int c = 0; c < jpeg.num_components; ++c) {
    const bool full = c == 0 || c == 3;
    jpeg.comp_info[c].h_samp_factor = full ? form.across : 1;
    jpeg.comp_info[c].v_samp_factor = full ? form.down : 1;
  }
  jpeg.restart_interval = form.restart_interval;
  jpeg.arith_code = form.arithmetic ? TRUE : FALSE;
  if (four) jpeg.write_Adobe_marker = form.adobe ? TRUE : FALSE;
  if (form.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  Bytes row(std::size_t{picture.shape.columns} * static_cast<std::size_t>(jpeg.input_components));
  const std::uint8_t* from = picture.pixels.data();
  while (jpeg.next_scanline < jpeg.image_height) {
    for (std::size_t at = 0; at < row.size();
         at += static_cast<std::size_t>(jpeg.input_components)) {
      put_pixel(from, form, row.data() + at);
      from += picture.shape.channels;
    }
    JSAMPROW into = row.data();
    jpeg_write_scanlines(&jpeg, &into, 1);
  }
  jpeg_finish_compress(&jpeg);
  Bytes bytes(data, data + size);
  jpeg_destroy_compress(&jpeg);
  std::free(data);
  return bytes;
}

Bytes with_orientation(std::span<const std::uint8_t> jpeg, std::uint16_t orientation,
                       bool big_endian) {
  Bytes tiff;
  const auto put = [&](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i)
      tiff.push_back(static_cast<std::uint8_t>(value >> 8 * (big_endian ? size - 1 - i : i)));
  };
  tiff.assign(2, big_endian ? 'M' : 'I');
  put(42, 2);
  put(8, 4);       // where the directory is,
  put(2, 2);       // which has two entries: tag, type, how many, value
  put(0x0100, 2);  // ImageWidth
  put(4, 2);
  put(1, 4);
  put(999, 4);
  put(0x0112, 2);  // Orientation
  put(3, 2);
  put(1, 4);
  put(orientation, 2);
  put(0, 2);
  put(0, 4);  // no other directory

  Bytes bytes(jpeg.begin(), jpeg.begin() + 2);
  const std::size_t length = 2 + 6 + tiff.size();
  for (const std::size_t byte : {std::size_t{0xff}, std::size_t{0xe1}, length >> 8, length & 0xff})
    bytes.push_back(static_cast<std::uint8_t>(byte));
  for (const char c : {'E', 'x', 'i', 'f', '\0', '\0'})
    bytes.push_back(static_cast<std::uint8_t>(c));
  bytes.insert(bytes.end(), tiff.begin(), tiff.end());
  bytes.insert(bytes.end(), jpeg.begin() + 2, jpeg.end());
  return bytes;
}

Bytes make_png(const Picture& picture, const PngForm& form) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  Bytes bytes;
  png_set_write_fn(
      png, &bytes,
      [](png_structp to, png_bytep from, std::size_t size) {
        auto& out = *static_cast<Bytes*>(png_get_io_ptr(to));
        out.insert(out.end(), from, from + size);
      },
      nullptr);
  const std::uint32_t channels = picture.shape.channels;
  const int type = form.palette ? PNG_COLOR_TYPE_PALETTE
                                : (channels == 3 ? PNG_COLOR_MASK_COLOR : 0) |
                                      (form.alpha ? PNG_COLOR_MASK_ALPHA : 0);
  png_set_IHDR(png, info, picture.shape.columns, picture.shape.rows, form.bit_depth, type,
               form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (form.palette) {
    std::array<png_color, 256> greys{};
    const int colors = 1 << form.bit_depth;
    for (int i = 0; i < colors; ++i) {
      const auto grey = static_cast<png_byte>(i * 255 / (colors - 1));
      greys[static_cast<std::size_t>(i)] = {grey, grey, grey};
    }
    png_set_PLTE(png, info, greys.data(), colors);
  }
  if (form.key) {
    const std::array<png_byte, 3> alphas{0, 128, 255};
    png_color_16 color{.index = 0, .red = 120, .green = 120, .blue = 120, .gray = 1};
    png_set_tRNS(png, info, form.palette ? alphas.data() : nullptr,
                 form.palette ? static_cast<int>(std::min(3, 1 << form.bit_depth)) : 0,
                 form.palette ? nullptr : &color);
  }
  png_write_info(png, info);
  png_set_packing(png);
  std::vector<Bytes> rows(picture.shape.rows);
  std::vector<png_bytep> pointers;
  std::size_t at = 0;
  for (Bytes& row : rows) {
    for (std::uint32_t column = 0; column < picture.shape.columns; ++column) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        const std::uint8_t value = picture.pixels[at++];
        row.push_back(form.bit_depth < 8 ? value >> (8 - form.bit_depth) : value);
        if (form.bit_depth == 16) row.push_back(value);
      }
      for (int i = 0; form.alpha && i < (form.bit_depth == 16 ? 2 : 1); ++i)
        row.push_back(static_cast<std::uint8_t>(column));
    }
    pointers.push_back(row.data());
  }
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace sterna::input
