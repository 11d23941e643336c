#include "launcher/record/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "launcher/past/run_state.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/growing_file.h"
#include "launcher/text/json_line.h"
#include "launcher/text/own_name.h"
#include "launcher/view/status_json.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

/// 20260102T030405Z: sorts by time and is a plain file name.
std::string utc(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

constexpr const char* kWhat = "the run directory ";

Error cannot_create(const std::string& path, int saved_errno) {
  return system_error(fmt::format("cannot create {}{}", kWhat, path), saved_errno);
}

Result<void> make_parents(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return cannot_create(path, failed.value());
  return {};
}

/// Two runs that start together get two folders.
Result<std::string> make_own_folder(const RunDirectoryOptions& options) {
  STERNA_TRY(make_parents(options.parent));
  const std::string base =
      fmt::format("{}/{}-{}", options.parent, options.config, utc(options.now));
  return make_own_name(base, "-", kWhat,
                       [](const std::string& path) { return mkdir(path.c_str(), 0755) == 0; });
}

Error goes_on_there(const std::string& path) {
  return {Errc::already_exists,
          fmt::format("the run directory {} is another run's that goes on; end that first, "
                      "or give another --run-dir",
                      path)};
}

bool is_locked(const Result<input::FolderLock>& lock) {
  return !lock && lock.error().code == Errc::already_exists;
}

/// Or has been one.
bool is_run(const std::string& path) {
  return std::ranges::any_of(
      std::array<std::string_view, 3>{kResolvedFile, kResultFile, "metrics.jsonl"},
      [&](std::string_view name) {
        std::error_code ignored;
        return std::filesystem::exists(fmt::format("{}/{}", path, name), ignored);
      });
}

Error is_taken(const std::string& path) {
  if (is_locked(input::FolderLock::take(path))) return goes_on_there(path);
  const std::string why = is_run(path)
                              ? " has a run already; give another --run-dir, or remove it"
                              : " is there already, and no run's directory; give another --run-dir";
  return Error{Errc::already_exists, path + why};
}

Result<void> check_name(const std::string& path) {
  const std::string name = directory_name(path);
  if (is_run_id(name)) return {};
  return Error{Errc::invalid_argument,
               fmt::format("the run directory {}: no run can be called \"{}\"; give another "
                           "--run-dir",
                           path, name)};
}

Result<std::string> make_explicit_folder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (!parent.empty()) STERNA_TRY(make_parents(parent));
  if (mkdir(path.c_str(), 0755) == 0) return path;
  if (errno != EEXIST) return cannot_create(path, errno);
  return is_taken(path);
}

/// Of the disk where `folder` lies, for the run directory `path`.
Result<void> check_free_space(const std::string& folder, const std::string& path,
                              std::uint64_t wanted) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return system_error(path, errno);
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free >= wanted) return {};
  return Error{Errc::io, fmt::format("{}: the disk has {} MB free and a run wants {} MB; make room "
                                     "or give another --run-dir",
                                     path, free / 1'000'000, (wanted + 999'999) / 1'000'000)};
}

/// The folder in which the first one that is not there has to be made.
std::filesystem::path nearest_there(const std::string& path) {
  std::error_code failed;
  std::filesystem::path at = std::filesystem::absolute(path, failed);
  while (at.has_relative_path() && !std::filesystem::exists(at, failed)) at = at.parent_path();
  return at;
}

/// Takes away what a killed run, or a full disk, left of a last line; how long the rest is.
std::uintmax_t trimmed_to_lines(const std::string& path) {
  constexpr std::uintmax_t kLongestLine = 65536;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed || size == 0) return 0;
  const std::uintmax_t from = size - std::min(size, kLongestLine);
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from));
  const std::string end(std::istreambuf_iterator<char>(in), {});
  const std::size_t last = end.rfind('\n');
  if (last == std::string::npos && from > 0) return size;
  const std::uintmax_t whole = last == std::string::npos ? 0 : from + last + 1;
  if (whole != size) std::filesystem::resize_file(path, whole, failed);
  return whole;
}

/// A pipe in the place of a file that grows would be waited for.
Result<void> check_may_grow(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status there = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return Error{Errc::malformed, path + ": is no regular file"};
}

/// What the folder holds from the start: the metrics, behind their first line, and the events.
Result<std::pair<LineFile, LineFile>> furnish(const std::string& path,
                                              const RunDirectoryOptions& options, bool made) {
  STERNA_TRY(check_free_space(path, path, options.minimum_free));
  if (mkdir((path + "/logs").c_str(), 0755) != 0 && (made || errno != EEXIST)) {
    return cannot_create(path + "/logs", errno);
  }
  const std::string metrics_path = path + "/metrics.jsonl";
  const std::string events_path = fmt::format("{}/{}", path, kEventsFile);
  for (const std::string& file : {metrics_path, events_path}) STERNA_TRY(check_may_grow(file));
  const bool begun = trimmed_to_lines(metrics_path) > 0;
  STERNA_ASSIGN(LineFile metrics, LineFile::create(metrics_path));
  if (!begun) STERNA_TRY(metrics.append(metrics_header(path, in_unix_seconds(options.now))));
  trimmed_to_lines(events_path);
  STERNA_ASSIGN(LineFile events, LineFile::create(events_path));
  return std::pair(std::move(metrics), std::move(events));
}

std::string identity_of(const std::filesystem::path& run, double time) {
  return fmt::format("{}@{:.6f}", run.filename().string(), time);
}

}  // namespace

std::optional<std::string> run_identity(const std::string& run_dir) {
  GrowingFile metrics((std::filesystem::path(run_dir) / "metrics.jsonl").string());
  const std::vector<std::string> lines = metrics.lines();
  const Json first =
      Json::parse(lines.empty() ? metrics.take_rest() : lines.front(), nullptr, false);
  const std::optional<double> time =
      first.is_object() ? json_number_of(first, "time") : std::nullopt;
  if (!time) return std::nullopt;
  return identity_of(json_text_of(first, "run", ""), *time);
}

Result<RunDirectory> RunDirectory::create(const RunDirectoryOptions& options) {
  std::error_code ignored;
  std::string path = without_last_slashes(options.explicit_path);
  if (!path.empty()) STERNA_TRY(check_name(path));
  const bool there = options.goes_on && std::filesystem::is_directory(path, ignored);
  if (!there) {
    STERNA_ASSIGN(path, path.empty() ? make_own_folder(options) : make_explicit_folder(path));
  }
  Result<input::FolderLock> lock = input::FolderLock::take(path);
  if (is_locked(lock)) return goes_on_there(path);
  if (!lock) {
    if (!there) std::filesystem::remove_all(path, ignored);
    return std::move(lock).error();
  }
  Result<std::pair<LineFile, LineFile>> files = furnish(path, options, !there);
  if (!files) {
    if (!there) std::filesystem::remove_all(path, ignored);
    return std::move(files).error();
  }
  std::string identity =
      run_identity(path).value_or(identity_of(path, in_unix_seconds(options.now)));
  return RunDirectory(std::move(path), std::move(identity), std::move(*lock),
                      std::move(files->first), std::move(files->second), !there);
}

Result<void> RunDirectory::check(const RunDirectoryOptions& options) {
  const bool own = options.explicit_path.empty();
  const std::string path = without_last_slashes(own ? options.parent : options.explicit_path);
  if (!own) STERNA_TRY(check_name(path));
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!own && folder && options.goes_on) return {};
  if (!own && std::filesystem::exists(path, ignored)) return is_taken(path);
  const std::filesystem::path at = nearest_there(path);
  if (at.empty()) return cannot_create(path, ENOENT);  // there is no current folder
  if (!std::filesystem::is_directory(at, ignored)) return cannot_create(path, ENOTDIR);
  if (faccessat(AT_FDCWD, at.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return cannot_create(path, errno);
  }
  return check_free_space(at.string(), path, options.minimum_free);
}

Result<void> RunDirectory::write_resolved(const ClusterFile& file) {
  return write_atomically(resolved_path(), resolved(file));
}

Result<void> RunDirectory::write_result(const RunResult& result) {
  return write_atomically(result_path(), to_json(result) + "\n");
}

bool RunDirectory::has_result() const {
  std::error_code ignored;
  return std::filesystem::exists(result_path(), ignored);
}

void RunDirectory::forget_result() const {
  std::error_code ignored;
  std::filesystem::remove(result_path(), ignored);
  std::filesystem::remove(status_path(), ignored);
}

Result<void> RunDirectory::write_status(const RunStatus& status) {
  return write_atomically(status_path(), status_json(status) + "\n");
}

void RunDirectory::discard() {
  if (!made_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
}  // namespace sterna::launcher
