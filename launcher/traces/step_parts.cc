#include "launcher/traces/step_parts.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

namespace sterna::launcher {
namespace {

using actors::Part;

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Times of one kind, apart from each other.
class Intervals {
 public:
  void add(Interval one) { all_.push_back(one); }
  /// Brings them in order; those that touch become one.
  void close() {
    std::ranges::sort(all_, {}, &Interval::begin);
    std::vector<Interval> merged;
    for (const Interval& one : all_) {
      if (!merged.empty() && one.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, one.end);
      } else {
        merged.push_back(one);
      }
    }
    all_ = std::move(merged);
  }
  double within(Interval of) const {
    auto one = std::ranges::upper_bound(all_, of.begin, {}, &Interval::end);
    double sum = 0;
    for (; one != all_.end() && one->begin < of.end; ++one) {
      sum += static_cast<double>(std::min(one->end, of.end) - std::max(one->begin, of.begin));
    }
    return sum;
  }

 private:
  std::vector<Interval> all_;
};

constexpr std::size_t kParts = actors::kPartNames.size();
std::size_t index(Part part) { return static_cast<std::size_t>(part); }

/// A rank's record of what it was at.
struct RankLog {
  std::size_t process = 0;
  std::map<std::uint64_t, Interval> steps;
  struct Piece {
    Part part{};
    Interval at;
  };
  std::map<std::uint64_t, std::vector<Piece>> pieces;  // by step
  std::array<Intervals, kParts> at;                    // all steps'
  Intervals encoding;
};

struct Update {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
struct Arrival {
  std::int64_t sent = 0;
  std::int64_t came = 0;
  std::size_t from = 0;  // process
  std::uint32_t rank = 0;
};

std::optional<std::uint32_t> rank_of(std::string_view track, std::string_view ending) {
  constexpr std::string_view kRank = "rank ";
  if (!track.starts_with(kRank) || !track.ends_with(ending)) return std::nullopt;
  track.remove_prefix(kRank.size());
  track.remove_suffix(ending.size());
  std::uint32_t rank = 0;
  const auto read = std::from_chars(track.data(), track.data() + track.size(), rank);
  if (read.ec != std::errc() || read.ptr != track.data() + track.size()) return std::nullopt;
  return rank;
}

std::optional<Part> part_named(std::string_view name) {
  const auto found = std::ranges::find(actors::kPartNames, name);
  if (found == actors::kPartNames.end()) return std::nullopt;
  return static_cast<Part>(found - actors::kPartNames.begin());
}

bool computes(Part part) {
  return part == Part::forward || part == Part::backward || part == Part::encode ||
         part == Part::apply || part == Part::turn || part == Part::keep;
}

/// Everything that the steps are made from, by what is asked of it.
class Facts {
 public:
  explicit Facts(const RunTrace& trace) {
    applying_.resize(trace.processes.size());
    under_way_.resize(trace.processes.size());
    for (std::size_t p = 0; p < trace.processes.size(); ++p) read(trace, p);
    for (const MessageArrow& arrow : trace.arrows) read(trace, arrow);
    for (auto& [rank, log] : ranks_) {
      log.encoding.close();
      for (Intervals& each : log.at) each.close();
    }
    for (Intervals& each : applying_) each.close();
    for (Intervals& each : under_way_) each.close();
  }

  std::vector<RankStep> steps() {
    std::vector<RankStep> all;
    for (const auto& [rank, log] : ranks_) {
      for (const auto& [step, at] : log.steps) all.push_back(made(rank, log, step, at));
    }
    return all;
  }

 private:
  void read(const RunTrace& trace, std::size_t p) {
    const ProcessSpans& process = trace.processes[p];
    for (const SpanRecord& record : process.records) {
      const Interval at{record.begin, record.end};
      const std::string& name = process.names[record.name];
      const std::string& track = process.tracks[record.track];
      if (record.kind == SpanKind::wait && name.starts_with("push ")) under_way_[p].add(at);
      if (record.kind != SpanKind::span) continue;
      const std::optional<Part> part = part_named(name);
      if (const auto computing = rank_of(track, " computes")) {
        if (part == Part::encode) ranks_[*computing].encoding.add(at);
      } else if (const auto rank = rank_of(track, "")) {
        RankLog& log = ranks_[*rank];
        log.process = p;
        // A step that was done again counts as it was done last.
        if (name == actors::traced::kStep) {
          const Interval before = std::exchange(log.steps[record.step], at);
          if (before.end != 0)
            std::erase_if(log.pieces[record.step],
                          [&](const auto& piece) { return piece.at.begin < at.begin; });
        } else if (part) {
          log.pieces[record.step].push_back({*part, at});
          log.at[index(*part)].add(at);
        }
      } else if (part == Part::apply) {
        applying_[p].add(at);
      } else if (name == actors::traced::kUpdate) {
        updates_[{p, record.step}].push_back({at.begin, at.end});
      }
    }
  }

  void read(const RunTrace& trace, const MessageArrow& arrow) {
    const SpanRecord& sent = trace.at(arrow.sent);
    const SpanRecord& received = trace.at(arrow.received);
    const Arrival one{sent.begin, received.begin, arrow.sent.process,
                      static_cast<std::uint32_t>(sent.end)};
    const std::string& name = trace.name(arrow.received.process, received);
    if (name == actors::traced::kPush) {
      pushes_[{arrow.received.process, received.step}].push_back(one);
    } else if (name == actors::traced::kAnswer) {
      answers_[{arrow.received.process, received.step}].push_back(one);
      if (one.came > one.sent) under_way_[arrow.received.process].add({one.sent, one.came});
    }
  }

  RankStep made(std::uint32_t rank, const RankLog& log, std::uint64_t step, Interval at) const {
    RankStep made{.rank = rank, .step = step, .began = at.begin, .ended = at.end};
    const auto found = log.pieces.find(step);
    if (found == log.pieces.end()) return made;
    for (const RankLog::Piece& piece : found->second) {
      double left = static_cast<double>(piece.at.end - piece.at.begin);
      const auto take = [&](Part part, const Intervals& from) {
        const double taken = std::min(left, from.within(piece.at));
        made.parts[index(part)] += taken;
        left -= taken;
        return taken;
      };
      if (piece.part == Part::backward || piece.part == Part::scalers) {
        made.causes.compute += take(Part::encode, log.encoding);
      }
      if (piece.part == Part::parameters) {
        made.causes.compute += take(Part::apply, applying_[log.process]);
      }
      made.parts[index(piece.part)] += left;
      if (computes(piece.part)) {
        made.causes.compute += left;
        made.hidden += under_way_[log.process].within(piece.at);
      } else if (piece.part == Part::batch) {
        made.causes.input += left;
      } else if (piece.part == Part::delay) {
        made.causes.straggler[rank] += left;
      } else {
        // What was applied meanwhile is a part of no cause of the wait.
        const double whole = static_cast<double>(piece.at.end - piece.at.begin);
        StepCauses why;
        if (piece.part == Part::parameters) {
          why = of_parameters(rank, log.process, step, piece.at);
        } else {
          of_ranks(rank, piece.at, why);
        }
        add(made.causes, why, whole == 0 ? 0 : left / whole);
      }
    }
    made.causes.other += std::max(0.0, made.length() - made.exposed());
    return made;
  }

  static void add(StepCauses& to, const StepCauses& from, double part) {
    to.compute += part * from.compute;
    to.up += part * from.up;
    to.down += part * from.down;
    to.server += part * from.server;
    to.input += part * from.input;
    to.other += part * from.other;
    for (const auto& [rank, time] : from.straggler) to.straggler[rank] += part * time;
  }

  /// The last before `until`, or null.
  template <class T, class Key>
  static const T* last(const std::vector<T>& all, std::int64_t until, Key key) {
    const T* found = nullptr;
    for (const T& one : all) {
      if (one.*key <= until && (found == nullptr || one.*key > found->*key)) found = &one;
    }
    return found;
  }

  StepCauses of_parameters(std::uint32_t rank, std::size_t process, std::uint64_t step,
                           Interval wait) const {
    StepCauses why;
    const auto came = answers_.find({process, step});
    const Arrival* answer =
        came == answers_.end() ? nullptr : last(came->second, wait.end, &Arrival::came);
    if (answer == nullptr) {
      why.other = static_cast<double>(wait.end - wait.begin);
      return why;
    }
    // Backwards; each part lies between two of these moments.
    const auto clamp = [&](std::int64_t at) { return std::clamp(at, wait.begin, wait.end); };
    const std::int64_t left_server = clamp(answer->sent);
    why.down = static_cast<double>(wait.end - left_server);
    const Update* update = nullptr;
    const Arrival* push = nullptr;
    if (step > 0) {
      const std::pair made_of{answer->from, step - 1};
      if (const auto updates = updates_.find(made_of); updates != updates_.end()) {
        update = last(updates->second, answer->sent, &Update::end);
      }
      const auto pushes = pushes_.find(made_of);
      if (update != nullptr && pushes != pushes_.end()) {
        push = last(pushes->second, update->begin, &Arrival::came);
      }
    }
    if (push == nullptr) {
      why.up += static_cast<double>(left_server - wait.begin);
      return why;
    }
    const std::int64_t reached_server = clamp(push->came);
    why.server = static_cast<double>(left_server - reached_server);
    const std::int64_t left_rank = clamp(push->sent);
    why.up += static_cast<double>(reached_server - left_rank);
    const Interval before{wait.begin, left_rank};
    if (before.end <= before.begin) return why;
    if (push->rank == rank) {
      why.up += static_cast<double>(before.end - before.begin);
    } else {
      of_rank(push->rank, before, why);
    }
    return why;
  }

  /// What another rank was at, of which this one waits for the end.
  void of_rank(std::uint32_t rank, Interval during, StepCauses& why) const {
    const auto found = ranks_.find(rank);
    double left = static_cast<double>(during.end - during.begin);
    if (found != ranks_.end()) {
      const RankLog& log = found->second;
      for (std::size_t p = 0; p < kParts; ++p) {
        const auto part = static_cast<Part>(p);
        const double time = std::min(left, log.at[p].within(during));
        left -= time;
        if (part == Part::batch) {
          why.input += time;
        } else if (computes(part) || part == Part::delay) {
          why.straggler[rank] += time;
        } else {
          why.other += time;
        }
      }
    }
    why.other += left;
  }

  /// A wait for what all ranks have to say: for the one that computes longest of it.
  void of_ranks(std::uint32_t self, Interval wait, StepCauses& why) const {
    double longest = 0;
    std::optional<std::uint32_t> last_one;
    for (const auto& [rank, log] : ranks_) {
      if (rank == self) continue;
      double time = 0;
      for (std::size_t p = 0; p < kParts; ++p) {
        const auto part = static_cast<Part>(p);
        if (computes(part) || part == Part::delay) time += log.at[p].within(wait);
      }
      if (time > longest) {
        longest = time;
        last_one = rank;
      }
    }
    const auto whole = static_cast<double>(wait.end - wait.begin);
    longest = std::min(longest, whole);
    if (last_one) why.straggler[*last_one] += longest;
    why.up += (whole - longest) / 2;  // a question and its answer
    why.down += (whole - longest) / 2;
  }

  std::map<std::uint32_t, RankLog> ranks_;
  std::vector<Intervals> applying_;                     // by process
  std::vector<Intervals> under_way_;                    // likewise: gradients or parameters
  using Where = std::pair<std::size_t, std::uint64_t>;  // process and step
  std::map<Where, std::vector<Update>> updates_;
  std::map<Where, std::vector<Arrival>> pushes_;
  std::map<Where, std::vector<Arrival>> answers_;
};

}  // namespace

double RankStep::exposed() const { return std::accumulate(parts.begin(), parts.end(), 0.0); }

std::vector<RankStep> steps_of(const RunTrace& trace) { return Facts(trace).steps(); }

}  // namespace sterna::launcher
