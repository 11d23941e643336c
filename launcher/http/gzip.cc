#include "launcher/http/gzip.h"

#include <zlib.h>

namespace sterna::launcher {

std::string gzip(std::string_view text) {
  constexpr int kLevel = 5;
  constexpr int kWindowAndGzip = 15 + 16;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kWindowAndGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // it is only read
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int end = deflate(&stream, Z_FINISH);
  packed.resize(end == Z_STREAM_END ? packed.size() - stream.avail_out : 0);
  deflateEnd(&stream);
  return packed;
}

}  // namespace sterna::launcher
