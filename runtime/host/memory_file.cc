#include "runtime/host/memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "runtime/host/free_memory.h"

namespace sterna {
namespace {

/// As the kernel shows it in /proc/PID/fd: "/memfd:NAME (deleted)". Longer names are cut.
constexpr std::size_t kLongestName = 200;

std::string file_name(const std::string& actor) {
  return ("sterna-kept-" + actor).substr(0, kLongestName);
}

Error no_memory(const std::string& what, int code) {
  Error error = system_error(what, code);
  if (code == ENOMEM || code == ENOSPC || code == EFBIG) error.code = Errc::overloaded;
  return error;
}

std::size_t size_of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

/// The kernel would take what there is, until it ends somebody for it.
Result<void> has_room(std::size_t bytes) {
  if (const auto free = free_memory(); free && bytes > *free) {
    return no_memory(fmt::format("no {} bytes of memory to be kept", bytes), ENOMEM);
  }
  return {};
}

/// Nobody can make it shorter then under somebody who has it mapped.
Result<void> seal(int descriptor) {
  if (::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return system_error("cannot seal kept memory", errno);
  }
  return {};
}

/// With all of its pages: what the machine has not shows now, and not as SIGBUS later.
Result<void> allocate(int descriptor, std::size_t bytes) {
  STERNA_TRY(has_room(bytes));
  int code = EINTR;
  while (code == EINTR) code = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (code != 0) {
    if (::ftruncate(descriptor, 0) != 0) return system_error("cannot empty kept memory", errno);
    return no_memory(fmt::format("no {} bytes of memory to be kept", bytes), code);
  }
  return seal(descriptor);
}

class InheritedMemory final : public KeptMemory {
 public:
  explicit InheritedMemory(int descriptor) : descriptor_(descriptor) {}
  ~InheritedMemory() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InheritedMemory(const InheritedMemory&) = delete;
  InheritedMemory& operator=(const InheritedMemory&) = delete;

  std::size_t size() const override { return descriptor_ < 0 ? taken_ : size_of(descriptor_); }

  Result<Region> take(std::size_t bytes) override {
    if (taken_ > 0) return Error{Errc::already_exists, "the kept memory is in use"};
    const std::size_t before = size_of(descriptor_);
    if (before == 0) {
      STERNA_TRY(allocate(descriptor_, bytes));
    } else if (before != bytes) {
      return Error{Errc::invalid_argument,
                   fmt::format("{} bytes of kept memory; those before had {}", bytes, before)};
    }
    void* at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
    if (at == MAP_FAILED) return no_memory("cannot map kept memory", errno);
    taken_ = bytes;
    ::close(std::exchange(descriptor_, -1));  // the mapping and the node have it
    return Region{std::shared_ptr<void>(at, [bytes](void* mapped) { ::munmap(mapped, bytes); }),
                  {static_cast<std::byte*>(at), bytes}};
  }

 private:
  int descriptor_;
  std::size_t taken_ = 0;
};

}  // namespace

Result<MemoryFile> MemoryFile::make(const std::string& name) {
  const int made = ::memfd_create(file_name(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return system_error("cannot keep memory for " + name, errno);
  return MemoryFile(made);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), written_(other.written_) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(written_, other.written_);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t MemoryFile::size() const { return size_of(descriptor_); }

Result<Bytes> MemoryFile::read(std::uint64_t offset, std::size_t most) const {
  const std::size_t all = size();
  const auto bytes = make_buffer(offset >= all ? 0 : std::min<std::size_t>(most, all - offset));
  for (std::size_t done = 0; done < bytes->size();) {
    const ssize_t got = ::pread(descriptor_, bytes->data() + done, bytes->size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return system_error("cannot read kept memory", got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
  return share(bytes);
}

Result<void> MemoryFile::write(std::uint64_t offset, std::uint64_t size, ByteView bytes) {
  const std::size_t before = this->size();
  const bool next = offset == written_ && (offset == 0 ? before == 0 : before == size);
  if (!next || bytes.empty() || bytes.size() > size - offset) {
    return Error{Errc::invalid_argument, "another piece of kept memory is to come"};
  }
  if (offset == 0) {  // its pages come with the pieces: who writes them waits for nothing long
    STERNA_TRY(has_room(size));
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
      return no_memory(fmt::format("no {} bytes of memory to be kept", size), errno);
    }
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_memory("cannot write kept memory", put < 0 ? errno : EIO);
    done += static_cast<std::size_t>(put);
  }
  written_ = offset + bytes.size();
  return written_ == size ? seal(descriptor_) : Result<void>{};
}

std::unique_ptr<KeptMemory> inherited_memory(int descriptor, const std::string& name) {
  std::array<char, kLongestName + 64> shown{};
  const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
  const ssize_t size = ::readlink(link.c_str(), shown.data(), shown.size());
  const std::string expected = "/memfd:" + file_name(name) + " (deleted)";
  if (size < 0 || std::string_view(shown.data(), static_cast<std::size_t>(size)) != expected) {
    return nullptr;
  }
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return std::make_unique<InheritedMemory>(descriptor);
}

}  // namespace sterna
