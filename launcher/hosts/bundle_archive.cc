#include "launcher/hosts/bundle_archive.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "input/place/data_source.h"
#include "launcher/text/environment.h"
#include "runtime/base/file.h"
#include "runtime/remote/bundle.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// tar -C FOLDER -czf ARCHIVE . ; always the same bytes for the same bundle, so that a host that
/// has the beginning of an archive can be sent the rest of another launcher's.
Result<void> pack_folder(const fs::path& folder, const std::string& archive) {
  const std::vector<std::string> words = {
      "tar", "--sort=name",   "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner",
      "-C",  folder.string(), "-I",         "gzip -n",   "-cf",       archive,
      "."};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot start tar", errno);
  if (child == 0) {
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{Errc::io, "tar could not pack " + folder.string() + " into " + archive};
}

}  // namespace

Result<RemoteBundle> archived_bundle(const std::string& program) {
  STERNA_ASSIGN(const fs::path folder,
                own_bundle(program.empty() ? fs::path("/proc/self/exe") : fs::path(program)));
  STERNA_ASSIGN(const Bundle bundle, read_bundle(folder));
  const auto cache = input::cache_directory(environment);
  if (!cache) return Error{Errc::not_found, "neither XDG_CACHE_HOME nor HOME is set"};
  STERNA_TRY(make_directory(*cache / "archives"));
  RemoteBundle remote;
  remote.hash = bundle.hash;
  remote.program = bundle.program;
  remote.archive = (*cache / "archives" / (bundle.hash + ".tar.gz")).string();
  std::error_code failed;
  if (fs::exists(remote.archive, failed)) return remote;
  const std::string fresh = fmt::format("{}.{}", remote.archive, ::getpid());
  if (Result<void> packed = pack_folder(folder, fresh); !packed) {
    fs::remove(fresh, failed);
    return std::move(packed).error();
  }
  STERNA_TRY(rename_into_place(fresh, remote.archive));
  return remote;
}

}  // namespace sterna::launcher
