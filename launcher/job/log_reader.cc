#include "launcher/job/log_reader.h"

#include <algorithm>
#include <utility>

namespace sterna::launcher {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(500);
/// More than a screen shows of so long a pause.
constexpr std::uint32_t kPiece = 64U << 10;
constexpr std::size_t kLongestLine = 1000;

/// Without the time, with which the runtime's own lines begin: "2026-01-02T03:04:05.678Z ".
std::string_view without_time(std::string_view line) {
  constexpr std::size_t kStamp = 25;
  const bool stamped = line.size() >= kStamp && line[4] == '-' && line[10] == 'T' &&
                       line[kStamp - 2] == 'Z' && line[kStamp - 1] == ' ';
  return stamped ? line.substr(kStamp) : line;
}

}  // namespace

LogReader::LogReader(const Clock& clock, std::vector<Log> logs, Ask ask, Say say)
    : clock_(clock), ask_(std::move(ask)), say_(std::move(say)) {
  for (Log& log : logs) readings_.push_back({std::move(log)});
}

void LogReader::turn() {
  if (readings_.empty()) return;
  if (asking_) {
    if (!answer_.ready()) return;
    asking_ = false;
    const Result<FilePiece> piece = answer_.take();
    // A log that cannot be read now may be at the next round.
    Reading& reading = readings_[current_];
    if (piece) take(reading, *piece);
    if (reading.asked_for_last && !reading.last.empty()) {
      say_(std::exchange(reading.last, ""));
    }
    next();
  }
  if (clock_.now() < due_) return;
  Reading& reading = readings_[current_];
  reading.asked_for_last = !reading.last.empty();
  answer_ = ask_({reading.log.node, reading.log.actor + ".log", reading.offset, kPiece});
  asking_ = true;
}

void LogReader::say_at_end_of(const std::string& actor, std::string line) {
  const auto its = std::find_if(readings_.begin(), readings_.end(),
                                [&](const Reading& one) { return one.log.actor == actor; });
  if (its == readings_.end()) return;
  its->last = std::move(line);
  due_ = {};
}

void LogReader::next() {
  if (++current_ < readings_.size()) return;
  current_ = 0;
  ++rounds_;
  due_ = clock_.now() + kPause;
}

bool LogReader::is_through() {
  if (readings_.empty()) return true;
  if (wanted_rounds_ == 0) {
    const bool between_rounds = current_ == 0 && !asking_;
    wanted_rounds_ = rounds_ + (between_rounds ? 1 : 2);
  }
  if (rounds_ < wanted_rounds_) {
    due_ = {};
    turn();
  }
  return rounds_ >= wanted_rounds_;
}

void LogReader::take(Reading& reading, const FilePiece& piece) {
  reading.offset += piece.bytes.size();
  reading.rest.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = reading.rest.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    if (std::exchange(reading.in_a_line, false)) continue;
    const std::string_view line =
        without_time(std::string_view(reading.rest).substr(begin, end - begin));
    if (!line.empty()) say_(reading.log.actor + ": " + std::string(line.substr(0, kLongestLine)));
  }
  reading.rest.erase(0, begin);
  const bool skips = piece.size > reading.offset + kPiece;
  if (skips) {
    say_(reading.log.actor + ": ...");
    reading.offset = piece.size - kPiece;
  }
  if (skips || reading.rest.size() > kLongestLine) {
    reading.rest.clear();
    reading.in_a_line = true;
  }
}

}  // namespace sterna::launcher
