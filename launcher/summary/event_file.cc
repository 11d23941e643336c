#include "launcher/summary/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "launcher/record/read_metrics.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// By this part of its name TensorBoard knows a file of events.
constexpr std::string_view kMark = "events.out.tfevents.";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

Error cannot_write(const std::string& path) { return system_error("cannot write " + path, errno); }

}  // namespace

Result<EventFile> EventFile::create(const std::string& folder, double began, std::string resolved) {
  constexpr int kMostInOneSecond = 1000;
  // In the order of their names they are read.
  const std::string base = fmt::format("{}/{}{:010}.{}.sterna", folder, kMark,
                                       static_cast<std::int64_t>(began), host_name());
  for (int n = 1; n <= kMostInOneSecond; ++n) {
    std::string path = n == 1 ? base : fmt::format("{}.{}", base, n);
    if (std::FILE* file = std::fopen(path.c_str(), "wbxe")) {
      return EventFile(std::move(path), file, RunEvents(began, std::move(resolved)));
    }
    if (errno != EEXIST) return system_error("cannot create " + path, errno);
  }
  return Error{Errc::already_exists, base + " and its successors exist; wait a second"};
}

Result<void> EventFile::append(std::string_view line) {
  return add(Json::parse(line, nullptr, false));
}

Result<void> EventFile::add(const Json& line) {
  const std::string records = events_.records_of(line);
  if (records.empty()) return {};
  if (std::fwrite(records.data(), 1, records.size(), file_.get()) != records.size() ||
      std::fflush(file_.get()) != 0) {
    return cannot_write(path_);
  }
  return {};
}

Result<void> EventFile::close() {
  if (!file_) return {};
  if (std::fclose(file_.release()) != 0) return cannot_write(path_);
  return {};
}

Result<std::string> export_events(const std::string& run, const std::string& folder) {
  STERNA_TRY(make_directory(folder));
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().filename().string().find(kMark) == std::string::npos) continue;
    return Error{Errc::already_exists,
                 fmt::format("{}: has events already, and would have each twice; give another "
                             "folder with --into",
                             folder)};
  }
  std::optional<EventFile> file;
  const Result<std::string> resolved = read_file(run + "/resolved.toml");
  const auto convert = [&](const Json& line) -> Result<void> {
    if (!file) {
      const double began = json_number_of(line, "time").value_or(0);
      STERNA_ASSIGN(file, EventFile::create(folder, began, resolved ? *resolved : ""));
    }
    return file->add(line);
  };
  Result<void> written = for_each_metric(run, convert);
  if (written && !file) {
    written = Error{Errc::not_found, run + "/metrics.jsonl: has no line"};
  }
  if (written) written = file->close();
  if (written) return file->path();
  if (file) fs::remove(file->path(), failed);
  return std::move(written).error();
}

}  // namespace sterna::launcher
