#include "actors/checkpoint/read_state.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include <fmt/format.h>

namespace sterna::actors {
namespace {

/// A question, and where its answer goes.
struct Asked {
  std::size_t target = 0;
  std::span<float> values;
  Task<Result<StateValues>> answer;
};

/// So many questions are under way at once, of up to 1 MB each.
constexpr std::size_t kAhead = 8;

}  // namespace

Task<Result<std::vector<std::size_t>>> read_state(Peer<CheckpointKeeperInterface>& keeper,
                                                  ByteWindow& window,
                                                  std::vector<StateTarget> targets,
                                                  Duration patience) {
  std::vector<std::size_t> absent;
  std::deque<Asked> asked;
  std::size_t target = 0;
  std::uint64_t done = 0;
  while (target < targets.size() || !asked.empty()) {
    while (target < targets.size() && asked.size() < kAhead) {
      const StateTarget& into = targets[target];
      const std::uint64_t count =
          std::min<std::uint64_t>(ReadState::kMost, into.values.size() - done);
      ReadState question{.array = into.array, .first = into.first + done, .count = count};
      asked.push_back(
          {target, into.values.subspan(done, count),
           keeper.ask_within(window, count * sizeof(float), std::move(question), patience)});
      done += count;
      if (done == into.values.size()) {
        ++target;
        done = 0;
      }
    }
    Asked first = std::move(asked.front());
    asked.pop_front();
    Result<StateValues> answer = co_await first.answer;
    if (!answer && answer.error().code == Errc::not_found) {
      if (absent.empty() || absent.back() != first.target) absent.push_back(first.target);
      continue;
    }
    STERNA_CO_TRY(answer);
    if (answer->values.size() != first.values.size_bytes()) {
      co_return Error{Errc::malformed,
                      fmt::format("{}: {} bytes for {}", targets[first.target].array,
                                  answer->values.size(), first.values.size_bytes())};
    }
    std::memcpy(first.values.data(), answer->values.data(), first.values.size_bytes());
  }
  co_return absent;
}

}  // namespace sterna::actors
