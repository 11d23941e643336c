#include "runtime/trace/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace sterna {
namespace {

/// Blocks that wait for the disk.
constexpr std::size_t kMostWaiting = std::size_t{8} << 20;

class TraceFile {
 public:
  TraceFile(std::string path, std::uint64_t most_bytes)
      : path_(std::move(path)), most_(most_bytes / 2) {}
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { close(); }

  void write(std::string_view block) {
    if (!open()) return;
    if (size_ > 0 && size_ + block.size() > most_) {
      close();
      std::rename(path_.c_str(), (path_ + ".old").c_str());
      if (!open()) return;
    }
    for (std::size_t at = 0; at < block.size();) {
      const ssize_t wrote = ::write(file_, block.data() + at, block.size() - at);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        // A part of a block would end the file for who reads it.
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) close();
        return;
      }
      at += static_cast<std::size_t>(wrote);
    }
    size_ += block.size();
  }

 private:
  bool open() {
    if (file_ >= 0) return true;
    constexpr mode_t kMode = 0644;
    file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
    if (file_ < 0) return false;
    size_ = whole_blocks();
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) close();
    return file_ >= 0;
  }
  /// The bytes of those that a process before, which may have been killed, has left.
  std::uint64_t whole_blocks() const {
    struct stat status {};
    if (::fstat(file_, &status) != 0) return 0;
    const auto all = static_cast<std::uint64_t>(status.st_size);
    std::array<char, kBlockHead> head{};
    std::uint64_t at = 0;
    while (::pread(file_, head.data(), head.size(), static_cast<off_t>(at)) == kBlockHead) {
      const auto size = size_of_block({head.data(), head.size()});
      if (!size || *size > all - at) break;
      at += *size;
    }
    return at;
  }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  std::string path_;
  std::uint64_t most_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace

TextWriter::Write to_trace_file(const std::string& path, std::uint64_t most_bytes) {
  return [file = std::make_shared<TraceFile>(path, most_bytes)](std::string_view block) {
    file->write(block);
  };
}

std::unique_ptr<TextSink> open_trace(const std::string& path, std::uint64_t most_bytes,
                                     const Tracer::Identity& who) {
  TextWriter::Options options;
  options.most_bytes = kMostWaiting;
  options.instead = [who](std::uint64_t lost) {
    std::string records;
    who.append_to(records);
    append_record(records, {.kind = SpanKind::lost, .value = lost});
    return block_of(records);
  };
  return std::make_unique<TextWriter>(to_trace_file(path, most_bytes), std::move(options));
}

}  // namespace sterna
