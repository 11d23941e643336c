#include "launcher/bench/pictures.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

#include "input/pictures/decode.h"
#include "input/pictures/encode.h"
#include "input/place/data_source.h"
#include "launcher/text/environment.h"
#include "runtime/base/file.h"

namespace sterna::launcher {

namespace fs = std::filesystem;

namespace {

using Files = std::vector<std::vector<std::uint8_t>>;

constexpr const char* kPhotographs = "flower_photos";

Result<std::vector<fs::path>> jpegs_below(const fs::path& dir) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(dir, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".jpg" || extension == ".jpeg") paths.push_back(entry->path());
  }
  if (error) return Error{Errc::not_found, dir.string() + ": " + error.message()};
  if (paths.empty()) {
    return Error{Errc::not_found,
                 dir.string() + " holds no .jpg or .jpeg; name another folder with --pictures"};
  }
  std::ranges::sort(paths);
  return paths;
}

Result<Files> read_some(const std::vector<fs::path>& paths, std::size_t most) {
  const std::size_t count = std::min(most, paths.size());
  Files files;
  for (std::size_t i = 0; i < count; ++i) {
    const fs::path& path = paths[i * paths.size() / count];
    STERNA_ASSIGN(const std::string bytes, read_file(path, std::size_t{1} << 28));
    files.emplace_back(bytes.begin(), bytes.end());
    const Result<input::Picture> whole = input::decode({input::Coding::jpeg, files.back(), {}}, {});
    if (!whole) return Error{whole.error().code, path.string() + ": " + whole.error().message};
  }
  return files;
}

/// Soft waves with a little noise: about the bytes for a pixel that photographs take.
Result<Files> draw(std::size_t count) {
  constexpr input::PictureShape kShape{240, 320, 3};
  constexpr int kQuality = 85;
  Files files;
  for (std::size_t i = 0; i < count; ++i) {
    input::Picture picture{kShape, std::vector<std::uint8_t>(kShape.bytes())};
    const auto bend = static_cast<float>(1 + i % 7);
    std::uint32_t noise = static_cast<std::uint32_t>(i);
    for (std::uint32_t p = 0; p < picture.pixels.size(); ++p) {
      const std::uint32_t row = p / (3 * kShape.columns);
      const auto y = static_cast<float>(row);
      const std::uint32_t column = p / 3 % kShape.columns;
      const auto x = static_cast<float>(column);
      const auto channel = static_cast<float>(p % 3);
      noise = noise * 1664525 + 1013904223;  // of Numerical Recipes
      const float wave =
          std::sin((x + 2 * channel) / (3 * bend)) + std::cos(y / (2 * bend) + x / 40);
      picture.pixels[p] =
          static_cast<std::uint8_t>(110 + 45 * wave + static_cast<float>(noise >> 27));
    }
    STERNA_ASSIGN(std::vector<std::uint8_t> file, input::encode_jpeg(picture, kQuality));
    files.push_back(std::move(file));
  }
  return files;
}

/// Where photographs lie if they lie where data is looked for.
std::optional<fs::path> photographs() {
  for (const auto& place :
       {input::data_directory(environment), input::cache_directory(environment)}) {
    std::error_code ignored;
    if (place && fs::is_directory(*place / kPhotographs, ignored)) return *place / kPhotographs;
  }
  return std::nullopt;
}

}  // namespace

JpegSource::JpegSource(Files files) : files_(std::move(files)) {
  facts_ = {.count = files_.size(), .shape = {0, 0, 3}, .classes = 1, .family = "inception"};
}

Result<input::StoredExample> JpegSource::read(std::uint64_t index) const {
  return input::StoredExample{.picture = {input::Coding::jpeg, files_[index], {}}};
}

Result<BenchPictures> find_bench_pictures(const std::optional<fs::path>& dir, std::size_t most,
                                          const BenchProgress& progress) {
  const std::optional<fs::path> found = dir ? dir : photographs();
  BenchPictures pictures;
  Files files;
  if (found) {
    STERNA_ASSIGN(const std::vector<fs::path> paths, jpegs_below(*found));
    STERNA_ASSIGN(files, read_some(paths, most));
  } else {
    progress(std::string("pictures that are drawn: there is no ") + kPhotographs +
             " in $STERNA_DATA or the cache; name a folder of JPEGs with --pictures");
    pictures.drawn = true;
    STERNA_ASSIGN(files, draw(most));
  }
  for (const auto& file : files) {
    STERNA_ASSIGN(const input::PictureShape shape,
                  input::shape_of({input::Coding::jpeg, file, {}}, input::kMostPixels));
    pictures.pixels += static_cast<double>(shape.rows) * shape.columns;
  }
  pictures.source = std::make_unique<const JpegSource>(std::move(files));
  return pictures;
}

}  // namespace sterna::launcher
