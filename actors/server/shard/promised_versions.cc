#include "actors/server/shard/promised_versions.h"

#include <algorithm>

namespace sterna::actors {

PromisedVersions::PromisedVersions(const JobConfig& job, ServerPolicy& policy, std::size_t chunks)
    : policy_(&policy), begun_(job.first_step), chunks_(chunks) {
  for (const std::uint64_t version : job.first_named()) named_.insert(version);
}

Result<Reserved> PromisedVersions::reserve(std::uint64_t version) {
  const std::uint64_t first = begun_ + 1;
  STERNA_ASSIGN(const bool reserved, policy_->reserve(version, first));
  if (reserved) named_.insert(version);
  return Reserved{.reserved = reserved, .first = first};
}

Result<void> PromisedVersions::reserve_as(const std::vector<std::uint64_t>& named) {
  for (const std::uint64_t version : std::set(named_)) {
    if (std::ranges::count(named, version) == 0) release(version);
  }
  for (const std::uint64_t version : named) {
    if (named_.contains(version)) continue;
    const Result<bool> reserved = policy_->reserve(version, 0);
    if (!reserved) return Error{Errc::malformed, reserved.error().message};
    named_.insert(version);
  }
  return {};
}

void PromisedVersions::release(std::uint64_t version) {
  policy_->release(version);
  named_.erase(version);
  for (Snapshots& kept : chunks_) kept.erase(version);
  free_held_back();
}

void PromisedVersions::conclude(std::uint64_t version) {
  while (!named_.empty() && *named_.begin() <= version) {
    policy_->release(*named_.begin());
    named_.erase(named_.begin());
  }
  for (Snapshots& kept : chunks_) kept.erase(kept.begin(), kept.upper_bound(version));
  free_held_back();
}

bool PromisedVersions::may_begin(std::uint32_t chunk, std::uint64_t version) {
  const bool full = promises(version) && chunks_[chunk].size() >= kMaxSnapshots;
  if (full) held_back_.insert(chunk);
  return !full;
}

bool PromisedVersions::may_begin(std::uint64_t version) {
  holds_others_back_ = promises(version) && std::ranges::any_of(chunks_, [](const Snapshots& kept) {
                         return kept.size() >= kMaxSnapshots;
                       });
  return !holds_others_back_;
}

const PromisedVersions::Snapshot* PromisedVersions::kept(std::uint32_t chunk,
                                                         std::uint64_t version) const {
  const auto found = chunks_[chunk].find(version);
  return found == chunks_[chunk].end() ? nullptr : &found->second;
}

}  // namespace sterna::actors
