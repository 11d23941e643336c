#include "tests/fuzz/input_seeds.h"

#include <zlib.h>

#include <cstdint>
#include <span>

#include "input/records/example.h"
#include "input/records/record_index.h"

namespace sterna::fuzz {

namespace {

using input::PictureRecord;

/// Numbers in so many bytes, the lowest or the highest of them first.
std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
  return out;
}
std::string big(std::uint64_t value, int bytes) {
  const std::string reversed = little(value, bytes);
  return {reversed.rbegin(), reversed.rend()};
}

std::string gzip(std::string plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string packed(plain.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

std::vector<std::string> tfrecord_seeds() {
  // The fuzzer puts the sums right, and the index's size and time.
  constexpr char kAllSums = 7;
  std::string file;
  std::string index = "STERNAX1" + little(0, 16) + little(3, 8);
  for (const std::size_t length : {5U, 0U, 100U}) {
    file += little(length, 8) + std::string(4 + length + 4, 'x');
    index += little(length, 4) + little(0, 4);
  }
  index += little(0, 4);
  const std::string empty_index = "STERNAX1" + little(0, 24) + little(0, 4);
  std::vector<std::string> seeds;
  seeds.push_back(std::string{kAllSums, static_cast<char>(index.size())} + index + file);
  seeds.push_back(std::string{kAllSums, static_cast<char>(empty_index.size())} + empty_index);
  seeds.push_back(std::string{kAllSums, 0} + file + little(1000, 8) + "cut short");
  return seeds;
}

std::vector<std::string> example_seeds() {
  PictureRecord full{.coding = input::Coding::pixels,
                     .bytes = std::string(12, 'x'),
                     .shape = {2, 2, 3},
                     .label = 3,
                     .class_text = "daisy",
                     .boxes = {{}, {0.25, 0.25, 0.5, 0.5}},
                     .name = "a.jpg"};
  PictureRecord small;
  small.bytes = "\xff\xd8\xff\xe0";
  std::vector<std::string> seeds;
  for (const PictureRecord& record : {full, small}) {
    const std::vector<std::uint8_t> data = pack_picture_record(record);
    seeds.emplace_back(data.begin(), data.end());
  }
  return seeds;
}

std::vector<std::string> idx_seeds() {
  const std::string images =
      big(0x803, 4) + big(2, 4) + big(3, 4) + big(4, 4) + std::string(24, 'x');
  const std::string labels = big(0x801, 4) + big(3, 4) + std::string{3, 1, 4};
  return {images, labels, gzip(images), gzip(labels)};
}

std::vector<std::string> cifar_seeds() {
  const std::string pixels(3072, 'x');
  const std::string ten = '\3' + pixels + '\7' + pixels;
  const std::string hundred = std::string("\1\x20") + pixels;
  return {ten, hundred, gzip(ten), gzip(hundred), ten + "cut short"};
}

}  // namespace sterna::fuzz
