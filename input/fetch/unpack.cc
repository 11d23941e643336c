#include "input/fetch/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "input/files/pending_file.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kWindow = std::size_t{64} * 1024;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// Where an entry of this name goes, below the folder; empty: nowhere, it is passed over. None: it
/// leads out of it.
std::optional<fs::path> place_of(const fs::path& name) {
  if (name.is_absolute()) return std::nullopt;
  std::vector<fs::path> parts;
  for (const fs::path& part : name) {
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  if (parts.size() > 1) parts.erase(parts.begin());
  fs::path place;
  for (const fs::path& part : parts) {
    if (part.string().starts_with('.')) return fs::path();
    place /= part;
  }
  return place;
}

class Unpacking {
 public:
  Unpacking(fs::path path, fs::path into, const UnpackBounds& bounds)
      : path_(std::move(path)),
        into_(std::move(into)),
        bounds_(bounds),
        reader_(archive_read_new(), &archive_read_free) {}

  Result<void> run() {
    if (!reader_) return Error{Errc::unavailable, "libarchive cannot start"};
    archive_read_support_filter_gzip(reader_.get());
    archive_read_support_format_tar(reader_.get());
    if (archive_read_open_filename(reader_.get(), path_.c_str(), kWindow) != ARCHIVE_OK) {
      return damaged();
    }
    std::uint64_t entries = 0;
    for (;;) {
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK) return damaged();
      if (++entries > bounds_.files) {
        return malformed(fmt::format("more than {} files", bounds_.files));
      }
      STERNA_TRY(unpack(entry));
    }
    if (entries == 0) return malformed("no file");
    return {};
  }

 private:
  Error malformed(std::string_view what) const {
    return {Errc::malformed, fmt::format("{} holds {}; it was not unpacked to its end, remove it "
                                         "and fetch it again",
                                         path_.string(), what)};
  }
  Error damaged() const {
    const char* why = archive_error_string(reader_.get());
    return malformed(fmt::format("no whole tar archive ({})", why == nullptr ? "damaged" : why));
  }

  Result<void> unpack(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    const std::optional<fs::path> place = name == nullptr ? std::nullopt : place_of(fs::path(name));
    if (!place) return malformed("a name that leads out of its folder");
    const bool linked = archive_entry_hardlink(entry) != nullptr;
    if (archive_entry_filetype(entry) == AE_IFDIR || (place->empty() && !linked)) return {};
    if (archive_entry_filetype(entry) != AE_IFREG || linked) {
      return malformed("a link or a device, which no data set has");
    }
    STERNA_TRY(make_folder_of(*place));
    STERNA_ASSIGN(PendingFile file, PendingFile::create(into_ / *place));
    STERNA_TRY(copy_into(file));
    return file.finish();
  }

  /// A link that somebody has put there would lead out of `into`.
  Result<void> make_folder_of(const fs::path& place) const {
    fs::path folder = into_;
    for (const fs::path& part : place.parent_path()) {
      folder /= part;
      std::error_code ignored;
      if (fs::is_symlink(fs::symlink_status(folder, ignored))) {
        return Error{Errc::malformed,
                     fmt::format("{} is a link, through which nothing is unpacked; remove it",
                                 folder.string())};
      }
      STERNA_TRY(make_directory(folder));
    }
    return {};
  }

  Result<void> copy_into(PendingFile& file) {
    std::vector<std::uint8_t> window(kWindow);
    for (;;) {
      const la_ssize_t got = archive_read_data(reader_.get(), window.data(), window.size());
      if (got == 0) return {};
      if (got < 0) return damaged();
      const auto size = static_cast<std::size_t>(got);
      if (size > bounds_.bytes - unpacked_) {
        return malformed(fmt::format("more than {} bytes", bounds_.bytes));
      }
      unpacked_ += size;
      STERNA_TRY(file.append(std::span(window).first(size)));
    }
  }

  fs::path path_;
  fs::path into_;
  UnpackBounds bounds_;
  Reader reader_;
  std::uint64_t unpacked_ = 0;
};

}  // namespace

Result<void> unpack_archive(const fs::path& archive, const fs::path& into,
                            const UnpackBounds& bounds) {
  return Unpacking(archive, into, bounds).run();
}

}  // namespace sterna::input
