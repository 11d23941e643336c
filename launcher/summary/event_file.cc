#include "launcher/summary/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "launcher/record/read_metrics.h"
#include "launcher/text/machine_name.h"
#include "launcher/text/own_name.h"
#include "launcher/text/whole_number.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// By this part of its name TensorBoard knows a file of events.
constexpr std::string_view kMark = "events.out.tfevents.";

Error cannot_write(const std::string& path) { return system_error("cannot write " + path, errno); }

}  // namespace

Result<EventFile> EventFile::create(const std::string& folder, double began, std::string resolved) {
  // In the order of their names they are read: of their digits, therefore, always ten.
  constexpr std::int64_t kLastSecond = 9'999'999'999;
  const std::string host = machine_name();
  const std::string base =
      fmt::format("{}/{}{:010}.{}.sterna", folder, kMark, whole_number(began, 0, kLastSecond),
                  host.empty() ? "localhost" : host);
  std::FILE* file = nullptr;
  STERNA_ASSIGN(std::string path, make_own_name(base, ".", "", [&](const std::string& name) {
                  file = std::fopen(name.c_str(), "wbxe");
                  return file != nullptr;
                }));
  std::setbuf(file, nullptr);
  return EventFile(std::move(path), file, RunEvents(began, std::move(resolved)));
}

Result<void> EventFile::append(std::string_view line) {
  return add(Json::parse(line, nullptr, false));
}

Result<void> EventFile::add(const Json& line) {
  const EventRecords more = events_.records_of(line);
  needed_ += more.needed;
  const std::string records = needed_ + more.own;
  // That lines are lost has no event, and so nothing of it can be missing.
  const bool is_there = !failed_ || json_text_of(line, "kind", "") == "lost";
  if (records.empty()) return is_there ? Result<void>() : *failed_;
  if (std::fwrite(records.data(), 1, records.size(), file_.get()) == records.size()) {
    whole_ += static_cast<off_t>(records.size());
    needed_.clear();
    failed_.reset();
    return {};
  }
  failed_ = cannot_write(path_);
  // TensorBoard reads nothing behind a part of a record.
  std::clearerr(file_.get());
  if (::ftruncate(::fileno(file_.get()), whole_) != 0 ||
      ::fseeko(file_.get(), whole_, SEEK_SET) != 0) {
    return cannot_write(path_);
  }
  return *failed_;
}

Result<void> EventFile::close() {
  if (!file_) return {};
  if (std::fclose(file_.release()) != 0) return cannot_write(path_);
  return {};
}

Result<std::string> export_events(const std::string& run, const std::string& folder) {
  STERNA_TRY(make_directory(folder));
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().filename().string().find(kMark) == std::string::npos) continue;
    return Error{Errc::already_exists,
                 fmt::format("{}: has events already, and would have each twice; give another "
                             "folder with --into",
                             folder)};
  }
  if (failed) return system_error("cannot read " + folder, failed.value());
  std::optional<EventFile> file;
  const Result<std::string> resolved = read_file(run + "/resolved.toml");
  const auto convert = [&](const Json& line) -> Result<void> {
    if (!file) {
      const double began = json_number_of(line, "time").value_or(0);
      STERNA_ASSIGN(file, EventFile::create(folder, began, resolved ? *resolved : ""));
    }
    return file->add(line);
  };
  Result<void> added;  // what is wrong with the folder is nothing of the metrics
  Result<void> written = for_each_metric(run, [&](const Json& line) {
    added = convert(line);
    return added;
  });
  if (!added) written = std::move(added);
  if (written && !file) {
    written = Error{Errc::not_found, run + "/metrics.jsonl: has no line"};
  }
  if (written) written = file->close();
  if (written) return file->path();
  if (file) fs::remove(file->path(), failed);
  return std::move(written).error();
}

}  // namespace sterna::launcher
