#include "nets/weights/weights_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "runtime/base/file.h"

namespace sterna::nets {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian values");

using Json = nlohmann::ordered_json;  // keeps the table's order

constexpr const char* kMetadataKey = "__metadata__";
/// Far above any table of parameters, and a bound on what a hostile file makes us parse.
constexpr std::uint64_t kLargestHeader = 16U << 20U;
constexpr std::size_t kMostDimensions = 8;
/// The header's own object, a tensor's, and an array within that.
constexpr int kDeepestNesting = 3;

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Result<void> read_all(const File& file, void* data, std::size_t size, const std::string& path) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(file.get(), at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("reading " + path, errno);
    if (got == 0) return Error{Errc::malformed, path + ": ends too early"};
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

std::string make_header(std::span<const ParameterSpec> specs, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::uint64_t offset = 0;
  for (const ParameterSpec& spec : specs) {
    const std::uint64_t end = offset + spec.count() * sizeof(float);
    header[spec.name] = {{"dtype", "F32"}, {"shape", spec.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Spaces after the header keep the data aligned for whoever maps the file.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Where a tensor lies in the data, as the header says, checked.
struct Entry {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Error malformed(const std::string& path, const std::string& what) {
  return {Errc::malformed, path + ": not a valid safetensors file: " + what};
}

/// JSON without duplicate keys at the top, nor more depth than the format has.
Result<Json> parse_header(const std::string& path, const std::string& text) {
  std::set<std::string> seen;
  std::string trouble;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepestNesting) trouble = "the header is nested too deeply";
    if (event == Json::parse_event_t::key && depth == 1 &&
        !seen.insert(parsed.get<std::string>()).second)
      trouble = "two entries have one name";
    return trouble.empty();
  };
  Json header = Json::parse(text, watch, false);
  if (!trouble.empty()) return malformed(path, trouble);
  if (!header.is_object()) return malformed(path, "the header is not a JSON object");
  return header;
}

Result<Entry> parse_entry(const std::string& path, const std::string& name, const Json& value) {
  const auto wrong = [&](const char* what) {
    // Names come from the file: printed short, and without control characters.
    std::string shown = name.substr(0, 64);
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return malformed(path, fmt::format("tensor \"{}\" {}", shown, what));
  };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    return wrong("has no dtype, shape and data_offsets");
  if (value["dtype"] != "F32") return wrong("is not of type F32, the only one read here");
  const Json& shape = value["shape"];
  const Json& offsets = value["data_offsets"];
  if (!shape.is_array() || shape.size() > kMostDimensions)
    return wrong("has a shape that is no list of at most 8 sizes");
  Entry entry{.name = name, .shape = {}};
  std::uint64_t bytes = sizeof(float);
  for (const Json& extent : shape) {
    if (!extent.is_number_unsigned()) return wrong("has a size that is no natural number");
    entry.shape.push_back(extent.get<std::uint64_t>());
    if (__builtin_mul_overflow(bytes, extent.get<std::uint64_t>(), &bytes))
      return wrong("is larger than memory can be");
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return wrong("has data_offsets that are no pair of natural numbers");
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    return wrong("has data_offsets that do not agree with its shape");
  return entry;
}

/// The header, checked against the file's size; the file then stands where the tensors begin, and
/// their places are in the order of their bytes.
Result<WeightsIndex> read_index(const File& file, const std::string& path) {
  if (!file.open()) {
    const int error = errno;
    if (error == ENOENT) return Error{Errc::not_found, path + ": no such file"};
    return system_error("reading " + path, error);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("reading " + path, errno);
  if (!S_ISREG(info.st_mode)) return malformed(path, "it is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t length = 0;
  if (size < sizeof length) return malformed(path, "it is shorter than 8 bytes");
  STERNA_TRY(read_all(file, &length, sizeof length, path));
  if (length > kLargestHeader || length > size - sizeof length)
    return malformed(path, "its header would be longer than the file, or than 16 MiB");
  std::string text(length, '\0');
  STERNA_TRY(read_all(file, text.data(), text.size(), path));
  if (!text.starts_with('{')) return malformed(path, "the header does not start with {");
  STERNA_ASSIGN(const Json header, parse_header(path, text));

  WeightsIndex index;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadataKey) {
      STERNA_ASSIGN(Entry entry, parse_entry(path, name, value));
      entries.push_back(std::move(entry));
      continue;
    }
    if (!value.is_object()) return malformed(path, "its metadata is not an object");
    for (const auto& [key, text_value] : value.items()) {
      if (!text_value.is_string()) return malformed(path, "its metadata holds more than strings");
      index.metadata[key] = text_value.get<std::string>();
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  // The format has neither holes nor overlaps, so entries in order must tile the data exactly;
  // that also bounds what is allocated by the size of the file.
  std::uint64_t offset = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != offset) return malformed(path, "its tensors leave holes or overlap");
    offset = entry.end;
  }
  if (offset != size - sizeof length - length)
    return malformed(path, "its tensors do not end where the file does");
  const std::uint64_t start = sizeof length + length;
  for (Entry& entry : entries) {
    index.tensors.push_back({std::move(entry.name), std::move(entry.shape), start + entry.begin,
                             (entry.end - entry.begin) / sizeof(float)});
  }
  return index;
}

File open_file(const std::string& path) { return File(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

Result<WeightsFile> read_checked(const std::string& path) {
  const File file = open_file(path);
  STERNA_ASSIGN(WeightsIndex index, read_index(file, path));
  WeightsFile weights;
  weights.metadata = std::move(index.metadata);
  for (TensorPlace& place : index.tensors) {
    NamedTensor tensor{std::move(place.name), std::move(place.shape), {}};
    tensor.values.resize(place.count);
    STERNA_TRY(read_all(file, tensor.values.data(), place.count * sizeof(float), path));
    weights.tensors.push_back(std::move(tensor));
  }
  return weights;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, std::span<const ParameterSpec> specs,
                               std::span<const std::span<const float>> values,
                               const Metadata& metadata) {
  if (specs.size() != values.size())
    return Error{Errc::internal, path + ": as many tensors as specs are needed"};
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (values[i].size() != specs[i].count())
      return Error{Errc::internal, fmt::format("{}: {} values for {} of {}", path, values[i].size(),
                                               specs[i].name, specs[i].count())};
  const std::string header = make_header(specs, metadata);
  const std::uint64_t length = header.size();
  std::vector<ByteView> parts{std::as_bytes(std::span(&length, 1)),
                              std::as_bytes(std::span(header))};
  for (const std::span<const float> tensor : values) parts.push_back(std::as_bytes(tensor));
  return write_atomically(path, parts);
}

Result<WeightsIndex> index_safetensors(const std::string& path) {
  const File file = open_file(path);
  return read_index(file, path);
}

Result<WeightsFile> read_safetensors(const std::string& path) {
  try {
    return read_checked(path);
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, path + ": does not fit into memory"};
  }
}

}  // namespace sterna::nets
