// Packs bytes as gzip and zlib do.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <vector>

namespace sterna::input {

/// `window_bits` as deflateInit2 takes them: 15 for zlib, 15 + 16 for gzip.
inline std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& plain, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::uint8_t> out(plain.size() + 1024);
  stream.next_in = const_cast<std::uint8_t*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::vector<std::uint8_t> gzip(const std::vector<std::uint8_t>& plain) {
  return packed(plain, 15 + 16);
}

inline std::vector<std::uint8_t> zlib(const std::vector<std::uint8_t>& plain) {
  return packed(plain, 15);
}

}  // namespace sterna::input
