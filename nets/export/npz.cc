#include "nets/export/npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/random.h"

namespace sterna::nets {
namespace {

/// The header of a .npy file, padded so that the numbers begin at a multiple of 64 bytes.
std::string npy_header(const ParameterSpec& spec) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  constexpr std::size_t kLengthBytes = 2, kAlignment = 64;
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                 fmt::join(spec.shape, ", "), spec.shape.size() == 1 ? "," : "");
  const std::size_t before = kMagic.size() + kLengthBytes;
  const std::size_t whole = (before + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

/// A file beside the one to be, under a name that nothing has yet, and gone unless it is kept.
class Beside {
 public:
  explicit Beside(std::string path)
      : path_(std::move(path)), name_(path_ + "." + std::to_string(SystemRandom().next())) {}
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    if (file_ < 0) return;
    ::close(file_);
    if (!kept_) ::unlink(name_.c_str());
  }
  Result<int> open() {
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ < 0) return system_error("writing " + path_, errno);
    return file_;
  }
  Result<void> keep() {
    if (::fsync(file_) != 0) return system_error("writing " + path_, errno);
    STERNA_TRY(rename_into_place(name_, path_));
    kept_ = true;
    return {};
  }

 private:
  std::string path_, name_;
  int file_ = -1;
  bool kept_ = false;
};

class Zip {
 public:
  Zip(const std::string& path, int file)
      : path_(path), writer_(archive_write_new(), &archive_write_free) {
    archive_write_set_format_zip(writer_.get());
    archive_write_zip_set_compression_store(writer_.get());
    archive_write_open_fd(writer_.get(), file);
  }
  Result<void> add(const std::string& name, std::span<const ByteView> parts) {
    std::size_t size = 0;
    for (const ByteView part : parts) size += part.size();
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                              &archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), S_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    if (archive_write_header(writer_.get(), entry.get()) != ARCHIVE_OK) return failed();
    for (const ByteView part : parts) {
      const la_ssize_t wrote = archive_write_data(writer_.get(), part.data(), part.size());
      if (wrote < 0 || static_cast<std::size_t>(wrote) != part.size()) return failed();
    }
    return {};
  }
  Result<void> close() {
    if (archive_write_close(writer_.get()) != ARCHIVE_OK) return failed();
    return {};
  }

 private:
  Error failed() const {
    const char* why = archive_error_string(writer_.get());
    return {Errc::io, fmt::format("writing {}: {}", path_, why != nullptr ? why : "no reason")};
  }

  const std::string& path_;
  std::unique_ptr<archive, decltype(&archive_write_free)> writer_;
};

}  // namespace

Result<void> write_npz(const std::string& path, std::span<const ParameterSpec> specs,
                       std::span<const std::span<const float>> values, const Metadata& metadata) {
  Beside file(path);
  STERNA_ASSIGN(const int descriptor, file.open());
  Zip zip(path, descriptor);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string header = npy_header(specs[i]);
    const ByteView parts[] = {std::as_bytes(std::span(header)), std::as_bytes(values[i])};
    STERNA_TRY(zip.add(specs[i].name + ".npy", parts));
  }
  const nlohmann::json object = metadata;
  const std::string text =
      object.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const ByteView part = std::as_bytes(std::span(text));
  STERNA_TRY(zip.add("metadata.json", std::span(&part, 1)));
  STERNA_TRY(zip.close());
  return file.keep();
}

}  // namespace sterna::nets
