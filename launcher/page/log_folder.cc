#include "launcher/page/log_folder.h"

#include <filesystem>
#include <system_error>

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

}  // namespace

void LogFolder::list() {
  const std::uint64_t before = listed_ ? GrowingFile::kAll : kBytesBefore;
  std::error_code failed;
  for (fs::directory_iterator entry(path_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".log" || logs_.size() >= kMostLogs) continue;
    logs_.try_emplace(path.stem().string(), GrowingFile(path.string(), before));
  }
}

LogLines LogFolder::lines(Time now) {
  if (!listed_ || now - *listed_ >= kListed) {
    list();
    listed_ = now;
  }
  LogLines lines;
  for (auto& [actor, log] : logs_) {
    for (std::string& line : log.lines()) lines.emplace_back(actor, std::move(line));
  }
  return lines;
}

}  // namespace sterna::launcher
