#include "runtime/cluster/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace sterna {

Result<FilePiece> read_piece(const std::string& directory, const ReadFile& question) {
  const std::string& name = question.name;
  if (directory.empty()) return Error{Errc::not_found, "this run keeps no files"};
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) {
    return Error{Errc::invalid_argument, "'" + name + "' is no file of a run"};
  }
  const std::string path = directory + "/" + name;
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return Error{Errc::not_found, path + " is not there"};
  if (file < 0) return system_error(path, errno);
  struct Close {
    int file;
    ~Close() { ::close(file); }
  } const close{file};
  struct stat status {};
  if (::fstat(file, &status) != 0) return system_error(path, errno);
  if (!S_ISREG(status.st_mode)) return Error{Errc::not_found, path + " is no plain file"};
  FilePiece piece;
  piece.size = static_cast<std::uint64_t>(status.st_size);
  if (question.offset >= piece.size) return piece;
  const std::uint64_t limit = std::min<std::uint64_t>(question.limit, ReadFile::kMost);
  const auto buffer = std::make_shared<Buffer>(std::min(limit, piece.size - question.offset));
  const ssize_t size =
      ::pread(file, buffer->data(), buffer->size(), static_cast<off_t>(question.offset));
  if (size < 0) return system_error(path, errno);
  piece.bytes = share(buffer, static_cast<std::size_t>(size));
  return piece;
}

}  // namespace sterna
