#include "input/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// A file under a unique temporary name; removed unless it was put into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path)
      : name_(path.string() + ".XXXXXX"), descriptor_(mkostemp(name_.data(), O_CLOEXEC)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    if (!placed_) unlink(name_.c_str());
  }

  int descriptor() const { return descriptor_; }
  Result<void> put(const fs::path& path) {
    STERNA_TRY(rename_into_place(name_, path));
    placed_ = true;
    return {};
  }

 private:
  std::string name_;
  int descriptor_;
  bool placed_ = false;
};

bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<void> write_atomically(const fs::path& path,
                              std::initializer_list<std::span<const std::uint8_t>> parts,
                              mode_t mode) {
  TemporaryFile file(path);
  if (file.descriptor() < 0) return system_error("cannot create " + path.string(), errno);
  for (const auto part : parts) {
    if (!write_all(file.descriptor(), part)) {
      return system_error("cannot write " + path.string(), errno);
    }
  }
  // mkostemp makes files for their owner alone; data sets are meant to be shared.
  if (fchmod(file.descriptor(), mode) != 0 || fsync(file.descriptor()) != 0) {
    return system_error("cannot write " + path.string(), errno);
  }
  return file.put(path);
}

Result<void> rename_into_place(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return system_error("cannot rename " + from.string() + " to " + to.string(), errno);
  }
  return {};
}

Result<void> make_directory(const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return system_error("cannot make the directory " + dir.string(), error.value());
  return {};
}

}  // namespace sterna::input
