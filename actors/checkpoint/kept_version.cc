#include "actors/checkpoint/kept_version.h"

#include <iterator>
#include <utility>

namespace sterna::actors {

bool KeptVersion::due(std::uint64_t version) const {
  // What has been begun of one that was named before is still to be completed.
  const bool begun = gathered_ && gathered_->version == version;
  return begun || job_.keeps(version) || version == named_;
}

bool KeptVersion::gathers(std::uint64_t version) {
  if (!due(version)) return false;
  if (!decided_ || *decided_ < version) {
    decided_ = version;
    if (gathered_ || writing_) {
      skipped_.push_back(version);
    } else {
      gathered_ = StatePart{.version = version, .pieces = {}};
      added_ = 0;
    }
  }
  return gathered_ && gathered_->version == version;
}

void KeptVersion::add(std::vector<StatePiece> pieces) {
  gathered_->pieces.insert(gathered_->pieces.end(), std::make_move_iterator(pieces.begin()),
                           std::make_move_iterator(pieces.end()));
  ++added_;
}

std::optional<StatePart> KeptVersion::take() {
  if (!gathered_ || added_ < holders_) return std::nullopt;
  writing_ = true;
  return std::exchange(gathered_, std::nullopt);
}

}  // namespace sterna::actors
