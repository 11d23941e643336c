#include "launcher/owner/relay_placer.h"

#include <utility>

namespace sterna::launcher {

Result<std::int64_t> RelayPlacer::spawn(const Bootstrap& bootstrap, Callbacks callbacks) {
  const bool relayed = bootstrap.kind == ProcessKind::NODE && elsewhere_.contains(bootstrap.host);
  if (!relayed) return local_.spawn(bootstrap, std::move(callbacks));
  if (alone_) {
    if (own_ == nullptr) {
      STERNA_ASSIGN(own_, make_own_());
    }
    return own_->spawn(bootstrap, std::move(callbacks));
  }
  const std::int64_t id = next_id_++;
  placed_[id] = std::move(callbacks);
  say_({"place", bootstrap.host, pack(bootstrap), id});
  return id;
}

void RelayPlacer::kill(std::int64_t pid) {
  if (placed_.contains(pid)) {
    say_({"withdraw", "", {}, pid});
  } else {
    (own_ != nullptr ? *own_ : local_).kill(pid);
  }
}

void RelayPlacer::ended(std::int64_t id, const std::string& why) {
  auto node = placed_.extract(id);
  if (node.empty()) return;
  ProcessExit exit;
  exit.words = why;
  if (node.mapped().on_exit) node.mapped().on_exit(exit);
}

void RelayPlacer::release_all() {
  alone_ = true;
  for (const auto& [id, callbacks] : std::exchange(placed_, {})) {
    if (callbacks.on_release) callbacks.on_release();
  }
}

}  // namespace sterna::launcher
