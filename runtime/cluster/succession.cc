#include "runtime/cluster/succession.h"

#include <algorithm>
#include <utility>

namespace sterna {

namespace {

/// So many may be lost one after the other before one of them has told the nodes who follows it.
constexpr std::size_t kKnownAhead = 8;
/// Pauses take at most this part of the nodes' lease.
constexpr int kPausesInLease = 8;
/// As many entries as a message may list.
constexpr std::size_t kEntriesOfPage = 4096;

}  // namespace

Succession::Succession(KeyIssuer& keys, const RestartBudget& budget, Duration lease)
    : keys_(keys), budget_(budget), lease_(lease) {}

Result<void> Succession::equip(Bootstrap& coordinator) {
  const std::size_t ahead = budget_.times > 0 ? kKnownAhead : 0;
  while (next_.size() < ahead + 1) {
    STERNA_ASSIGN(Credentials issued, keys_.issue());
    next_.push_back(std::move(issued));
  }
  coordinator.identity = {"coordinator", ++incarnation_};
  coordinator.credentials = std::move(next_.front());
  next_.pop_front();
  coordinator.successors.clear();
  for (std::size_t i = 0; i < next_.size(); ++i) {
    Contact next;
    next.process = coordinator.process.value;
    next.identity = {coordinator.identity.name, incarnation_ + 1 + i};
    next.public_key = next_[i].public_key;
    next.token_hash = keys_.hash(next_[i].token);
    coordinator.successors.push_back(std::move(next));
  }
  coordinator.journal.clear();
  for (auto& [key, kept] : notes_) {
    kept.number = 0;  // the next one counts anew
    if (coordinator.journal.empty() || coordinator.journal.back().entries.size() == kEntriesOfPage)
      coordinator.journal.emplace_back();
    coordinator.journal.back().entries.push_back({key, kept.value});
  }
  return {};
}

void Succession::note(Note note) {
  for (JournalEntry& entry : note.entries) {
    Kept& kept = notes_[entry.key];
    // One that was asked again may come late.
    if (note.number < kept.number) continue;
    kept = {std::move(entry.value), note.number};
    if (kept.value.empty()) notes_.erase(entry.key);
  }
}

std::optional<Duration> Succession::pause_after(ProcessDown& down, Time now) {
  if (budget_.times == 0) return std::nullopt;
  while (!losses_.empty() && now - losses_.front().at > budget_.within) losses_.pop_front();
  if (losses_.size() >= budget_.times) {
    down.cause += budget_.used_up_by(losses_.size(), losses_.front().cause);
    return std::nullopt;
  }
  losses_.push_back({now, down.cause});
  return budget_.pause_before(losses_.size(), lease_ / kPausesInLease);
}

}  // namespace sterna
