#include "input/formats/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "input/files/byte_source.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kLabelsMagic = 0x00000801;  // unsigned bytes, one dimension
constexpr std::uint32_t kImagesMagic = 0x00000803;  // unsigned bytes, three dimensions
constexpr std::size_t kMnistSide = 28;
constexpr std::size_t kMnistClasses = 10;

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

void put_big_endian(std::uint64_t value, std::vector<std::uint8_t>& out) {
  assert(value <= std::numeric_limits<std::uint32_t>::max());
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

Error malformed(const fs::path& path, std::string_view what) {
  return {Errc::malformed, fmt::format("{}: {}", path.string(), what)};
}

struct IdxContent {
  std::vector<std::size_t> dimensions;
  std::vector<std::uint8_t> elements;
};

Result<std::vector<std::size_t>> read_header(ByteSource& source, const fs::path& path,
                                             std::uint32_t magic) {
  const std::size_t rank = magic & 0xff;
  std::vector<std::uint8_t> header(4 + 4 * rank);
  STERNA_ASSIGN(const std::size_t got, source.read(header));
  if (got < 4) return malformed(path, "too short for an IDX file; fetch or copy it again");
  const std::uint32_t found = big_endian(header);
  if (found != magic) {
    const char* hint = found == kLabelsMagic   ? " (that is a labels file)"
                       : found == kImagesMagic ? " (that is an images file)"
                                               : "";
    return malformed(path, fmt::format("the magic number is 0x{:08x}{}, but an IDX file of {} "
                                       "begins with 0x{:08x}; is it the right file?",
                                       found, hint, rank == 1 ? "labels" : "images", magic));
  }
  if (got < header.size()) return malformed(path, "cut short in its header; fetch it again");
  std::vector<std::size_t> dimensions;
  for (std::size_t i = 0; i < rank; ++i) {
    dimensions.push_back(big_endian(std::span(header).subspan(4 + 4 * i)));
  }
  return dimensions;
}

/// The number of elements, if a file that yields at most `limit` bytes can hold them.
Result<std::size_t> checked_size(const std::vector<std::size_t>& dimensions, std::uint64_t limit,
                                 const fs::path& path) {
  std::uint64_t size = 1;
  bool fits = true;
  for (const std::size_t dimension : dimensions) {
    if (dimension == 0) return malformed(path, "declares a dimension of 0: it holds no examples");
    fits = fits && size <= limit / dimension;
    size *= fits ? dimension : 1;
  }
  const std::uint64_t header = 4 + 4 * dimensions.size();
  if (!fits || size > limit - std::min(header, limit)) {
    return malformed(path, fmt::format("declares {} bytes, more than the file can hold: it is cut "
                                       "short or damaged; fetch or copy it again",
                                       fmt::join(dimensions, " x ")));
  }
  return static_cast<std::size_t>(size);
}

Result<IdxContent> read_idx(const fs::path& path, std::uint32_t magic) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open(path));
  IdxContent content;
  STERNA_ASSIGN(content.dimensions, read_header(source, path, magic));
  STERNA_ASSIGN(const std::size_t size, checked_size(content.dimensions, source.limit(), path));
  // A gzip file may still declare a thousand times what it holds: grow as the bytes come.
  constexpr std::size_t kStep = std::size_t{16} * 1024 * 1024;
  while (content.elements.size() < size) {
    const std::size_t had = content.elements.size();
    content.elements.resize(std::min(size, std::max(had * 2, kStep)));
    const std::span<std::uint8_t> fresh = std::span(content.elements).subspan(had);
    STERNA_ASSIGN(const std::size_t got, source.read(fresh));
    if (got < fresh.size()) {
      return malformed(path, fmt::format("declares {} elements but holds {}: it is cut short; "
                                         "fetch or copy it again",
                                         size, had + got));
    }
  }
  std::array<std::uint8_t, 1> beyond{};
  STERNA_ASSIGN(const std::size_t extra, source.read(beyond));
  if (extra != 0) {
    return malformed(path, fmt::format("holds more than the {} elements it declares: it is damaged "
                                       "or two files in one; fetch or copy it again",
                                       size));
  }
  return content;
}

/// RFC 1952: a gzip member ends with the size of what it holds, modulo 2^32, little-endian. (A file
/// of several members ends with the last one's.)
std::uint32_t gzip_trailer(const fs::path& path) {
  std::array<char, 4> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
  file.read(bytes.data(), bytes.size());
  std::uint32_t size = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    size = size << 8 | static_cast<std::uint8_t>(bytes[i]);
  return size;
}

/// The dimensions of a file whose header and size fit each other. One where they do not is read
/// whole, to hear what is wrong with it.
Result<std::vector<std::size_t>> glance(const fs::path& path, std::uint32_t magic) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open(path));
  STERNA_ASSIGN(std::vector<std::size_t> dimensions, read_header(source, path, magic));
  STERNA_ASSIGN(const std::size_t size, checked_size(dimensions, source.limit(), path));
  const std::uint64_t whole = 4 + 4 * dimensions.size() + size;
  const bool fits = source.compressed() ? gzip_trailer(path) == static_cast<std::uint32_t>(whole)
                                        : source.limit() == whole;
  if (fits) return dimensions;
  STERNA_ASSIGN(IdxContent content, read_idx(path, magic));
  return std::move(content.dimensions);
}

/// Whether the two files can be a split of a data set in MNIST's form.
Result<void> check_shapes(const fs::path& images_path, std::size_t images, std::size_t rows,
                          std::size_t columns, const fs::path& labels_path, std::size_t labels) {
  if (rows != kMnistSide || columns != kMnistSide) {
    return malformed(images_path, fmt::format("its images are {} x {} pixels, not {} x {}; is it "
                                              "of another data set?",
                                              rows, columns, kMnistSide, kMnistSide));
  }
  if (images == labels) return {};
  return malformed(labels_path, fmt::format("{} labels for the {} images of {}; the two files "
                                            "are not of one data set: fetch both again",
                                            labels, images, images_path.filename().string()));
}

/// `dir`/`name`, or its .gz.
Result<fs::path> find_file(const fs::path& dir, const std::string& name) {
  std::error_code ignored;
  for (const char* suffix : {"", ".gz"}) {
    fs::path path = dir / (name + suffix);
    if (fs::exists(path, ignored)) return path;
  }
  return Error{
      Errc::not_found,
      fmt::format("{} has neither {} nor {}.gz; `sterna data fetch mnist` and `sterna data "
                  "make digits` make such files",
                  dir.string(), name, name)};
}

std::vector<std::string> files_of(Split split) {
  const IdxNames names = mnist_names(split);
  return {names.images, names.labels};
}

Result<void> write_examples(const fs::path& dir, Split split, const Dataset& whole,
                            const ExampleRange& range) {
  const IdxNames names = mnist_names(split);
  const std::size_t size = whole.image_size();
  STERNA_TRY(write_idx_images(
      dir / names.images, std::span(whole.images).subspan(range.first * size, range.count() * size),
      whole.rows, whole.columns));
  return write_idx_labels(dir / names.labels,
                          std::span(whole.labels).subspan(range.first, range.count()));
}

Result<void> write_idx(const fs::path& path, std::uint32_t magic,
                       std::initializer_list<std::size_t> dimensions,
                       std::span<const std::uint8_t> elements) {
  std::vector<std::uint8_t> header;
  put_big_endian(magic, header);
  for (const std::size_t dimension : dimensions) put_big_endian(dimension, header);
  const std::array parts{std::as_bytes(std::span(header)), std::as_bytes(elements)};
  return write_atomically(path, parts);
}

}  // namespace

constexpr Format kIdx{"idx", files_of, load_mnist, glance_at_mnist, write_examples};

IdxNames mnist_names(Split split) {
  return split == Split::train ? IdxNames{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}
                               : IdxNames{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
}

Result<IdxImages> read_idx_images(const fs::path& path) {
  STERNA_ASSIGN(IdxContent content, read_idx(path, kImagesMagic));
  return IdxImages{content.dimensions[0], content.dimensions[1], content.dimensions[2],
                   std::move(content.elements)};
}

Result<std::vector<std::uint16_t>> read_idx_labels(const fs::path& path, std::size_t classes) {
  STERNA_ASSIGN(IdxContent content, read_idx(path, kLabelsMagic));
  const auto& labels = content.elements;
  const auto bad = std::find_if(labels.begin(), labels.end(),
                                [classes](std::uint8_t label) { return label >= classes; });
  if (bad != labels.end()) {
    return malformed(path, fmt::format("label {} is {}, but there are only {} classes (0 to {}); "
                                       "the file is damaged or of another data set",
                                       bad - labels.begin(), *bad, classes, classes - 1));
  }
  return std::vector<std::uint16_t>(labels.begin(), labels.end());
}

Result<Dataset> load_mnist(const fs::path& dir, Split split) {
  const IdxNames names = mnist_names(split);
  STERNA_ASSIGN(const fs::path images_path, find_file(dir, names.images));
  STERNA_ASSIGN(const fs::path labels_path, find_file(dir, names.labels));
  STERNA_ASSIGN(IdxImages images, read_idx_images(images_path));
  STERNA_ASSIGN(std::vector<std::uint16_t> labels, read_idx_labels(labels_path, kMnistClasses));
  STERNA_TRY(check_shapes(images_path, images.count, images.rows, images.columns, labels_path,
                          labels.size()));
  return Dataset{.count = images.count,
                 .rows = images.rows,
                 .columns = images.columns,
                 .channels = 1,
                 .classes = kMnistClasses,
                 .images = std::move(images.pixels),
                 .labels = std::move(labels)};
}

Result<SourceFacts> glance_at_mnist(const fs::path& dir, Split split,
                                    const DataOptions& /*options*/) {
  const IdxNames names = mnist_names(split);
  STERNA_ASSIGN(const fs::path images_path, find_file(dir, names.images));
  STERNA_ASSIGN(const fs::path labels_path, find_file(dir, names.labels));
  STERNA_ASSIGN(const auto images, glance(images_path, kImagesMagic));
  STERNA_ASSIGN(const auto labels, glance(labels_path, kLabelsMagic));
  STERNA_TRY(check_shapes(images_path, images[0], images[1], images[2], labels_path, labels[0]));
  return SourceFacts{.count = images[0],
                     .shape = {kMnistSide, kMnistSide, 1},
                     .classes = kMnistClasses,
                     .family = {}};
}

Result<void> write_idx_images(const fs::path& path, std::span<const std::uint8_t> pixels,
                              std::size_t rows, std::size_t columns) {
  assert(rows > 0 && columns > 0 && pixels.size() % (rows * columns) == 0);
  return write_idx(path, kImagesMagic, {pixels.size() / (rows * columns), rows, columns}, pixels);
}

Result<void> write_idx_labels(const fs::path& path, std::span<const std::uint16_t> labels) {
  const std::vector<std::uint8_t> bytes(labels.begin(), labels.end());
  if (!std::equal(labels.begin(), labels.end(), bytes.begin()))
    return Error{Errc::invalid_argument,
                 fmt::format("{}: labels above 255 do not fit an IDX file's bytes", path.string())};
  return write_idx(path, kLabelsMagic, {labels.size()}, bytes);
}

}  // namespace sterna::input
