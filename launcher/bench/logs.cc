#include "launcher/bench/logs.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sterna::launcher {

Result<BenchLogs> BenchLogs::create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string path = (parent / "sterna-bench-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Error{Errc::io, path + ": cannot make a directory for logs: " +
                               (error ? error.message() : std::strerror(errno))};
  }
  return BenchLogs(path);
}

void BenchLogs::discard() const {
  std::error_code ignored;  // a directory left in the temporary one harms nobody
  std::filesystem::remove_all(path_, ignored);
}

Error BenchLogs::explain(const Error& error) const {
  return {error.code, error.message + "; logs are in " + path_};
}

}  // namespace sterna::launcher
