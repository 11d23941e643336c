#include "runtime/remote/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/hex.h"
#include "runtime/remote/build_id.h"

namespace sterna {

namespace {

namespace fs = std::filesystem;

constexpr const char* kBundleMark = "sterna-bundle";
constexpr std::string_view kMarkBegins = "format 1\nprogram ";
constexpr std::size_t kHashBytes = 16;
constexpr std::size_t kReadChunk = 1U << 20;

Error file_error(std::string_view what, const fs::path& path, const std::error_code& code) {
  return system_error(fmt::format("cannot {} {}", what, path.string()), code.value());
}

/// The program's name, from the mark.
Result<std::string> read_mark(const fs::path& folder) {
  const Result<std::string> text = read_file(folder / kBundleMark);
  if (!text) return Error{Errc::not_found, folder.string() + " is no bundle"};
  if (!text->starts_with(kMarkBegins) || !text->ends_with('\n')) {
    return Error{Errc::malformed, folder.string() + " is a bundle of an unknown format"};
  }
  return text->substr(kMarkBegins.size(), text->size() - kMarkBegins.size() - 1);
}

Result<std::vector<BundledFile>> list_files(const fs::path& folder) {
  std::vector<BundledFile> files;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    const fs::file_status status = entry->symlink_status(code);
    if (code) break;
    if (fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status)) {
      return Error{Errc::malformed, entry->path().string() + " is not a plain file"};
    }
    const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    files.push_back({entry->path().lexically_relative(folder).generic_string(), executable,
                     entry->file_size(code)});
    if (code) break;
  }
  if (code) return file_error("list", folder, code);
  std::sort(files.begin(), files.end(),
            [](const BundledFile& a, const BundledFile& b) { return a.path < b.path; });
  return files;
}

class FolderHash {
 public:
  FolderHash() : chunk_(kReadChunk) { crypto_generichash_init(&state_, nullptr, 0, kHashBytes); }

  Result<void> add(const fs::path& folder, const BundledFile& file) {
    // The path ends with its zero byte, and the size says where the content ends: no two folders
    // are the same bytes.
    const std::string about =
        fmt::format("{}{}{}{}:", file.path, '\0', file.executable ? 'x' : '-', file.size);
    update(about.data(), about.size());
    const fs::path path = folder / file.path;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return system_error("cannot read " + path.string(), errno);
    std::uint64_t seen = 0;
    ssize_t size = 0;
    while ((size = ::read(descriptor, chunk_.data(), chunk_.size())) != 0) {
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) break;
      update(chunk_.data(), static_cast<std::size_t>(size));
      seen += static_cast<std::uint64_t>(size);
    }
    const int error = errno;
    ::close(descriptor);
    if (size < 0) return system_error("cannot read " + path.string(), error);
    if (seen != file.size) return Error{Errc::io, path.string() + " changed while it was read"};
    return {};
  }

  std::string hex() {
    std::array<unsigned char, kHashBytes> hash;
    crypto_generichash_final(&state_, hash.data(), hash.size());
    return to_hex(std::as_bytes(std::span(hash)));
  }

 private:
  void update(const char* data, std::size_t size) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(data), size);
  }

  crypto_generichash_state state_;
  std::vector<char> chunk_;
};

}  // namespace

Result<Bundle> read_bundle(const fs::path& folder) {
  if (sodium_init() < 0) return Error{Errc::unavailable, "libsodium cannot start"};
  Bundle bundle;
  bundle.folder = folder;
  STERNA_ASSIGN(bundle.program, read_mark(folder));
  STERNA_ASSIGN(bundle.files, list_files(folder));
  FolderHash hash;
  for (const BundledFile& file : bundle.files) {
    STERNA_TRY(hash.add(folder, file));
    bundle.bytes += file.size;
  }
  bundle.hash = hash.hex();
  return bundle;
}

Result<fs::path> own_bundle(const fs::path& program) {
  std::error_code code;
  const fs::path path = fs::canonical(program, code);
  if (code) return file_error("find", program, code);
  const fs::path beside = path.parent_path();
  if (beside.filename() == "bin" && fs::exists(beside.parent_path() / kBundleMark, code)) {
    return beside.parent_path();
  }
  const std::string how = "; `cmake --build` its bundle target (see sterna_bundle)";
  const fs::path folder = beside / "bundle";
  if (!fs::exists(folder / kBundleMark, code)) {
    return Error{Errc::not_found, path.string() + " has no bundle beside it" + how};
  }
  STERNA_ASSIGN(const std::string build, build_id_of(path));
  const Result<std::string> bundled = build_id_of(folder / "bin" / path.filename());
  if (!bundled || *bundled != build) {
    return Error{Errc::not_found,
                 folder.string() + " is not of this build of " + path.filename().string() + how};
  }
  return folder;
}

}  // namespace sterna
