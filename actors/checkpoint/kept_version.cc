#include "actors/checkpoint/kept_version.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sterna::actors {

bool KeptVersion::has_begun(std::uint64_t version) const {
  return std::ranges::any_of(gathering_,
                             [&](const Gathering& one) { return one.part.version == version; });
}

bool KeptVersion::due(std::uint64_t version) const {
  // What has been begun of one that was named before is still to be completed.
  return has_begun(version) || job_.keeps(version) || version == named_;
}

bool KeptVersion::gathers(std::uint64_t version) {
  if (!due(version)) return false;
  if (!decided_ || *decided_ < version) {
    decided_ = version;
    const bool busy = writing_ || !gathering_.empty();
    if (busy && version != job_.steps) {
      skipped_.push_back(version);
    } else {
      gathering_.push_back({.part = {.version = version, .pieces = {}}});
    }
  }
  return has_begun(version);
}

void KeptVersion::add(std::uint64_t version, std::vector<StatePiece> pieces) {
  for (Gathering& one : gathering_) {
    if (one.part.version != version) continue;
    one.part.pieces.insert(one.part.pieces.end(), std::make_move_iterator(pieces.begin()),
                           std::make_move_iterator(pieces.end()));
    ++one.added;
  }
}

std::vector<std::uint64_t> KeptVersion::take_skipped() {
  if (writing_) return {};
  const auto waits = std::ranges::find_if(skipped_, [&](std::uint64_t version) {
    return !gathering_.empty() && version > gathering_.front().part.version;
  });
  std::vector<std::uint64_t> taken(skipped_.begin(), waits);
  skipped_.erase(skipped_.begin(), waits);
  return taken;
}

std::optional<StatePart> KeptVersion::take() {
  const auto whole = std::ranges::find(gathering_, holders_, &Gathering::added);
  if (writing_ || whole == gathering_.end()) return std::nullopt;
  writing_ = true;
  StatePart part = std::move(whole->part);
  gathering_.erase(whole);
  return part;
}

}  // namespace sterna::actors
