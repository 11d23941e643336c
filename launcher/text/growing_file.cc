#include "launcher/text/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sterna::launcher {
namespace {

/// Of what lies behind `offset`, at most `most` bytes.
std::string piece_of(int file, std::uint64_t offset, std::size_t most) {
  std::string piece(most, '\0');
  std::size_t filled = 0;
  while (filled < most) {
    const ssize_t n =
        ::pread(file, piece.data() + filled, most - filled, static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    filled += static_cast<std::size_t>(n);
  }
  piece.resize(filled);
  return piece;
}

}  // namespace

GrowingFile GrowingFile::behind(std::string path, std::uint64_t offset) {
  GrowingFile file(std::move(path));
  file.offset_ = offset;
  file.began_ = true;
  return file;
}

/// The beginning of a line that has no end any more must not stand before another.
void GrowingFile::begin_anew() {
  offset_ = 0;
  splitter_.take_rest();
  skips_ = false;
  began_anew_ = true;
}

std::vector<std::string> GrowingFile::lines() {
  has_more_ = false;
  // A pipe in its place must not hold the reader up.
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  struct stat status {};
  std::string piece;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (!std::exchange(began_, true) && size > most_before_) {
      offset_ = size - most_before_;
      skips_ = true;
    }
    if (size < offset_) begin_anew();
    if (size > offset_) piece = piece_of(file, offset_, kPiece);
  }
  ::close(file);
  offset_ += piece.size();
  has_more_ = piece.size() == kPiece;

  std::vector<std::string> lines = splitter_.take(piece);
  if (skips_ && !lines.empty()) {
    lines.erase(lines.begin());
    skips_ = false;
  }
  return lines;
}

std::string GrowingFile::take_rest() {
  std::string rest = splitter_.take_rest();
  return skips_ ? std::string() : rest;
}

}  // namespace sterna::launcher
