#include "runtime/remote/join_placer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/message/packed_message.h"
#include "runtime/remote/remote_placer.h"

namespace sterna {

namespace {

/// Beyond any pid of this host.
constexpr std::int64_t kFirstJoinedId = std::int64_t{1} << 40;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Result<void> make_private(const std::string& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  if (errno != EEXIST) return system_error("cannot make " + folder, errno);
  if (::chmod(folder.c_str(), S_IRWXU) != 0) return system_error(folder, errno);
  return {};
}

}  // namespace

JoinPlacer::JoinPlacer(Loop& loop, Spawner& local, JoinPlacerOptions options)
    : loop_(loop), local_(local), options_(std::move(options)), next_id_(kFirstJoinedId) {}

JoinPlacer::~JoinPlacer() {
  for (const auto& [id, node] : *nodes_) ::unlink(node.path.c_str());
  ::rmdir(options_.folder.c_str());
}

Result<std::int64_t> JoinPlacer::spawn(const Bootstrap& bootstrap, Callbacks callbacks) {
  const bool joins = bootstrap.kind == ProcessKind::NODE && options_.hosts.contains(bootstrap.host);
  if (!joins) return local_.spawn(bootstrap, std::move(callbacks));
  STERNA_TRY(make_private(options_.folder));
  const std::string path = options_.folder + "/" + bootstrap.host;
  // One that is there is another launcher's: whoever reads it shall get what that one wrote.
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) return system_error("cannot write " + path, EEXIST);
  const Bytes secret = with_size(pack(bootstrap));
  STERNA_TRY(write_atomically(path, text_of(secret.view()), S_IRUSR | S_IWUSR));
  const std::int64_t id = next_id_++;
  (*nodes_)[id] = {path, std::move(callbacks.on_exit)};
  if (options_.written) options_.written(bootstrap.host, path);
  return id;
}

void JoinPlacer::kill(std::int64_t pid) {
  const auto found = nodes_->find(pid);
  if (found == nodes_->end()) return local_.kill(pid);
  ::unlink(found->second.path.c_str());
  loop_.post([pid, weak = std::weak_ptr<AwaitedNodes>(nodes_)] {
    const auto nodes = weak.lock();
    auto node = nodes ? nodes->extract(pid) : AwaitedNodes::node_type{};
    if (node.empty() || !node.mapped().on_exit) return;
    ProcessExit exit;
    exit.words = "its bootstrap file was withdrawn";
    node.mapped().on_exit(exit);
  });
}

std::uint64_t JoinPlacer::resident_bytes(std::int64_t pid) const {
  return nodes_->contains(pid) ? 0 : local_.resident_bytes(pid);
}

Result<Bootstrap> read_bootstrap_file(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return system_error(path, errno);
  if (!S_ISREG(status.st_mode)) return Error{Errc::malformed, path + " is no plain file"};
  if ((status.st_mode & kOthers) != 0 || status.st_uid != ::geteuid()) {
    return Error{Errc::permission,
                 path + " holds secrets that others may read: make it yours alone (chmod 600)"};
  }
  const Error malformed{Errc::malformed, path + " is no bootstrap file of a run"};
  std::uint64_t size = 0;
  const auto all = static_cast<std::uint64_t>(status.st_size);
  if (::pread(file, &size, sizeof(size), 0) != sizeof(size) || all != sizeof(size) + size) {
    return malformed;
  }
  std::vector<char> bytes(size);
  if (::pread(file, bytes.data(), size, sizeof(size)) != static_cast<ssize_t>(size)) {
    return malformed;
  }
  Result<Bootstrap> bootstrap = unpack<Bootstrap>(std::as_bytes(std::span(bytes)));
  if (!bootstrap || bootstrap->kind != ProcessKind::NODE) return malformed;
  return bootstrap;
}

}  // namespace sterna
