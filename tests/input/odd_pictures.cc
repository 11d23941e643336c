#include "odd_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "input/pictures/decode.h"
#include "scratch.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

Result<Picture> decode_file(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  STERNA_ASSIGN(const Coding coding, coding_of(bytes));
  return decode({coding, bytes, {}}, {});
}

OddPicture look_at(const fs::path& folder, const std::string& file) {
  OddPicture odd{.file = file};
  const fs::path path = folder / file;
  if (const auto coding = coding_of(read_file(path))) odd.coding = *coding;
  const fs::path reference = fs::path(path).replace_extension(".png");
  odd.has_reference = path.extension() == ".jpg" && fs::exists(reference);
  const Result<Picture> picture = decode_file(path);
  if (!picture) {
    odd.error = picture.error().message;
    return odd;
  }
  odd.shape = picture->shape;
  if (!odd.has_reference) return odd;
  if (const Result<Picture> expected = decode_file(reference))
    odd.difference = difference(*picture, *expected);
  return odd;
}

}  // namespace

std::optional<int> difference(const Picture& a, const Picture& b) {
  if (a.shape != b.shape) return std::nullopt;
  int most = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    most = std::max(most, std::abs(a.pixels[i] - b.pixels[i]));
  return most;
}

std::vector<OddPicture> odd_pictures(const fs::path& folder) {
  std::vector<OddPicture> all;
  std::ifstream index(folder / "index.csv");
  std::string line;
  std::getline(index, line);  // the names of its columns
  while (std::getline(index, line)) all.push_back(look_at(folder, line.substr(0, line.find(','))));
  return all;
}

std::string table_of(const std::vector<OddPicture>& pictures) {
  std::string table =
      fmt::format("{:<56} {:<5} {:<10} {}\n", "file", "is", "size", "from the reference, of 255");
  for (const OddPicture& odd : pictures) {
    const char* coding = !odd.coding ? "?" : *odd.coding == Coding::jpeg ? "JPEG" : "PNG";
    std::string outcome = odd.error;
    if (odd.shape && odd.has_reference)
      outcome = odd.difference ? fmt::to_string(*odd.difference) : "another size";
    table += fmt::format(
        "{:<56} {:<5} {:<10} {}\n", odd.file, coding,
        odd.shape ? fmt::format("{}x{}", odd.shape->columns, odd.shape->rows) : "-", outcome);
  }
  return table;
}

}  // namespace sterna::input
