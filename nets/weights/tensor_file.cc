#include "nets/weights/tensor_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "kernels/sums/bf16.h"
#include "runtime/base/file.h"

namespace sterna::nets {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian values");

/// Ordered by name: what remembers the order of a file's keys searches all of them for each.
using Header = nlohmann::json;

constexpr const char* kMetadataKey = "__metadata__";
/// Far above any table of parameters, and a bound on what a hostile file makes us parse.
constexpr std::uint64_t kLargestHeader = 16U << 20U;
constexpr std::size_t kMostDimensions = 8;
/// The header's own object, a tensor's, and an array within that.
constexpr int kDeepestNesting = 3;
constexpr std::size_t kLongestType = 16;  // of element types' names

struct ElementType {
  std::string_view name;
  std::uint64_t bytes;
};
/// The format's. Of others, which may come, nobody can tell the size.
constexpr std::array<ElementType, 15> kTypes{{{"F32", 4},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"F64", 8},
                                              {"I64", 8},
                                              {"I32", 4},
                                              {"I16", 2},
                                              {"I8", 1},
                                              {"U64", 8},
                                              {"U32", 4},
                                              {"U16", 2},
                                              {"U8", 1},
                                              {"BOOL", 1},
                                              {"F8_E5M2", 1},
                                              {"F8_E4M3", 1}}};

std::optional<std::uint64_t> bytes_of_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &ElementType::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->bytes;
}

Error malformed(const std::string& path, const std::string& what) {
  return {Errc::malformed, path + ": not a valid safetensors file: " + what};
}

Result<void> read_at(int file, std::uint64_t offset, void* data, std::size_t size,
                     const std::string& path) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::pread(file, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("reading " + path, errno);
    if (got == 0) return Error{Errc::malformed, path + ": ends too early"};
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

/// Of a header what its values do not show: names that come twice, and depth that the format has
/// not. (A callback of Json::parse would hear of it, too, but with one each tensor's end looks at
/// all tensors before it.)
class HeaderWatch final : public nlohmann::json_sax<Header> {
 public:
  const std::string& trouble() const { return trouble_; }

  bool key(string_t& name) override {
    if (depth_ == 1 && !names_.insert(name).second) trouble_ = "two entries have one name";
    return trouble_.empty();
  }
  bool start_object(std::size_t /*size*/) override { return deeper(); }
  bool start_array(std::size_t /*size*/) override { return deeper(); }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*what*/) override {
    return false;
  }

 private:
  bool deeper() {
    if (++depth_ > kDeepestNesting) trouble_ = "the header is nested too deeply";
    return trouble_.empty();
  }
  std::unordered_set<std::string> names_;
  int depth_ = 0;
  std::string trouble_;
};

/// JSON without duplicate keys at the top, nor more depth than the format has.
Result<Header> parse_header(const std::string& path, const std::string& text) {
  HeaderWatch watch;
  const bool whole = Header::sax_parse(text, &watch);
  if (!watch.trouble().empty()) return malformed(path, watch.trouble());
  Header header = whole ? Header::parse(text, nullptr, false) : Header();
  if (!header.is_object()) return malformed(path, "the header is not a JSON object");
  return header;
}

Result<ListedTensor> parse_entry(const std::string& path, const std::string& name,
                                 const Header& value) {
  const auto wrong = [&](const char* what) {
    return malformed(path, fmt::format("tensor \"{}\" {}", shown_name(name), what));
  };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    return wrong("has no dtype, shape and data_offsets");
  const Header& dtype = value["dtype"];
  const Header& shape = value["shape"];
  const Header& offsets = value["data_offsets"];
  if (!dtype.is_string() || dtype.get_ref<const std::string&>().size() > kLongestType)
    return wrong("has a dtype that is no short text");
  if (!shape.is_array() || shape.size() > kMostDimensions)
    return wrong("has a shape that is no list of at most 8 sizes");
  ListedTensor entry{.name = name, .dtype = dtype.get<std::string>(), .shape = {}};
  const std::optional<std::uint64_t> element = bytes_of_type(entry.dtype);
  std::uint64_t bytes = element.value_or(1);
  for (const Header& extent : shape) {
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
  if (entry.end < entry.begin || (element && entry.end - entry.begin != bytes))
    return wrong("has data_offsets that do not agree with its shape");
  return entry;
}

/// The fp32 of the same value: every IEEE half is one.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero and what is denormal
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? value : -value;
  }
  constexpr std::uint32_t kBias = 127 - 15;
  const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + kBias;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace

std::uint64_t ListedTensor::count() const {
  std::uint64_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

bool ListedTensor::readable() const { return dtype == "F32" || dtype == "F16" || dtype == "BF16"; }

std::string shown_name(std::string_view name) {
  std::string shown(name.substr(0, 64));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return shown;
}

Result<TensorFile> TensorFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const int error = errno;
    if (error == ENOENT) return Error{Errc::not_found, path + ": no such file"};
    return system_error("reading " + path, error);
  }
  TensorFile opened;
  opened.path_ = path;
  opened.descriptor_ = std::shared_ptr<const int>(new int(file), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  struct stat info {};
  if (::fstat(file, &info) != 0) return system_error("reading " + path, errno);
  if (S_ISDIR(info.st_mode)) {
    return Error{Errc::invalid_argument, path + ": a folder; name a file of weights"};
  }
  if (!S_ISREG(info.st_mode)) return malformed(path, "it is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t length = 0;
  if (size < sizeof length) return malformed(path, "it is shorter than 8 bytes");
  STERNA_TRY(read_at(file, 0, &length, sizeof length, path));
  if (length > kLargestHeader || length > size - sizeof length)
    return malformed(path, "its header would be longer than the file, or than 16 MiB");
  std::string text(length, '\0');
  STERNA_TRY(read_at(file, sizeof length, text.data(), text.size(), path));
  if (!text.starts_with('{')) return malformed(path, "the header does not start with {");
  STERNA_ASSIGN(const Header header, parse_header(path, text));
  opened.data_ = sizeof length + length;
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadataKey) {
      STERNA_ASSIGN(ListedTensor entry, parse_entry(path, name, value));
      opened.tensors_.push_back(std::move(entry));
      continue;
    }
    if (!value.is_object()) return malformed(path, "its metadata is not an object");
    for (const auto& [key, text_value] : value.items()) {
      if (!text_value.is_string()) return malformed(path, "its metadata holds more than strings");
      opened.metadata_[key] = text_value.get<std::string>();
    }
  }
  std::ranges::sort(opened.tensors_, [](const ListedTensor& a, const ListedTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  // The format has neither holes nor overlaps, so entries in order must tile the data exactly;
  // that also bounds what is allocated by the size of the file.
  std::uint64_t offset = 0;
  for (const ListedTensor& entry : opened.tensors_) {
    if (entry.begin != offset) return malformed(path, "its tensors leave holes or overlap");
    offset = entry.end;
  }
  if (offset != size - opened.data_)
    return malformed(path, "its tensors do not end where the file does");
  return opened;
}

const ListedTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &ListedTensor::name);
  return found != tensors_.end() ? &*found : nullptr;
}

Result<void> TensorFile::read(const ListedTensor& tensor, std::uint64_t first,
                              std::span<float> into) const {
  const std::uint64_t begin = data_ + tensor.begin;
  if (tensor.dtype == "F32") {
    return read_at(*descriptor_, begin + first * sizeof(float), into.data(), into.size_bytes(),
                   path_);
  }
  std::array<std::uint16_t, 16384> some;
  float (*const convert)(std::uint16_t) = tensor.dtype == "F16" ? from_f16 : kernels::from_bf16;
  while (!into.empty()) {
    const std::size_t count = std::min(some.size(), into.size());
    STERNA_TRY(read_at(*descriptor_, begin + first * sizeof(std::uint16_t), some.data(),
                       count * sizeof(std::uint16_t), path_));
    std::transform(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count), into.begin(),
                   convert);
    into = into.subspan(count);
    first += count;
  }
  return {};
}

}  // namespace sterna::nets
