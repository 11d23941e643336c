#include "launcher/record/metrics_file.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>

namespace sterna::launcher {
namespace {

/// At the end of a run.
constexpr Duration kPatience = std::chrono::seconds(10);

/// A step's histograms of a net of 160 tensors are 4 MB.
constexpr std::size_t kMostWaiting = std::size_t{16} << 20;

/// In place of lines that found no room.
std::string lost_line(std::uint64_t lines) {
  return fmt::format("{{\"kind\":\"lost\",\"lines\":{}}}", lines);
}

class PlainLines final : public LineSink {
 public:
  explicit PlainLines(LineFile file) : file_(std::move(file)) {}
  const std::string& path() const override { return file_.path(); }
  Result<void> append(std::string_view line) override { return file_.append(line); }
  Result<void> close() override { return file_.close(); }

 private:
  LineFile file_;
};

}  // namespace

/// The writer's thread has it as long as a hung disk keeps that.
struct MetricsFile::State {
  std::string path;
  std::unique_ptr<LineSink> sink;
  std::uint64_t unsaid = 0;  // lines that are lost since the last one; the writer's thread's
  std::mutex mutex;
  // Guarded by mutex:
  std::optional<Error> failed;  // of the last line
  Tally tally;

  std::optional<Error> failure() {
    const std::lock_guard lock(mutex);
    return failed;
  }
  Tally tally_now() {
    const std::lock_guard lock(mutex);
    return tally;
  }

  /// Each line tries the disk again; an empty one only says what was lost before.
  void write(std::string_view line) {
    Result<void> written;
    if (unsaid > 0) written = sink->append(lost_line(unsaid));
    if (written) unsaid = 0;
    if (written && !line.empty()) written = sink->append(line);
    const std::lock_guard lock(mutex);
    failed = written ? std::nullopt : std::optional(written.error());
    if (line.empty()) return;
    if (written) {
      ++tally.taken;
      return;
    }
    ++unsaid;
    ++tally.refused;
  }

  /// Of lines that found no place in the writer's queue.
  std::string note_lost(std::uint64_t lines) {
    unsaid += lines;
    return "";
  }
};

MetricsFile::MetricsFile(LineFile file, std::function<void(const std::string& line)> say,
                         const Clock& clock, Duration hangs)
    : MetricsFile(std::make_unique<PlainLines>(std::move(file)), std::move(say), clock, hangs) {}

MetricsFile::MetricsFile(std::unique_ptr<LineSink> sink,
                         std::function<void(const std::string& line)> say, const Clock& clock,
                         Duration hangs)
    : state_(new State{
          .path = sink->path(), .sink = std::move(sink), .mutex = {}, .failed = {}, .tally = {}}),
      say_(std::move(say)),
      clock_(clock),
      patience_(hangs),
      writer_([state = state_](std::string_view line) { state->write(line); },
              {.most_bytes = kMostWaiting, .instead = [state = state_](std::uint64_t lines) {
                 return state->note_lost(lines);
               }}) {}

MetricsFile::~MetricsFile() = default;

void MetricsFile::append(std::string line) {
  writer_.put(std::move(line));
  look();
}

void MetricsFile::look() {
  const bool hangs = writer_.writing_for() > patience_;
  if (hangs != std::exchange(hangs_, hangs)) {
    say_(hangs
             ? fmt::format("{}: the disk has not answered for {} s; training goes on", state_->path,
                           std::chrono::duration<double>(patience_).count())
             : fmt::format("{}: the disk answers again; {} lines are lost", state_->path, lost()));
  }
  look_whether_it_takes_lines();
}

void MetricsFile::look_whether_it_takes_lines() {
  const std::optional<Error> failure = state_->failure();
  if (failure) {
    takes_from_.reset();
    if (!std::exchange(fails_, true)) say_(failure->message);
    return;
  }
  if (!fails_) return;
  const Tally now = state_->tally_now();
  if (!takes_from_ || now.refused != seen_.refused) {
    takes_from_ = clock_.now();
    seen_ = now;
  }
  if (clock_.now() - *takes_from_ < kTakesAgain || now.taken == seen_.taken) return;
  takes_from_.reset();
  fails_ = false;
  say_(fmt::format("{}: the disk takes lines again; {} are lost", state_->path, lost()));
}

Result<void> MetricsFile::close() {
  if (!writer_.flush(kPatience)) {
    return Error{Errc::io, state_->path + ": the disk does not answer; its last lines are lost"};
  }
  if (const std::optional<Error> failure = state_->failure()) {
    return fails_ ? Result<void>() : *failure;
  }
  return state_->sink->close();
}

std::uint64_t MetricsFile::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->tally.refused + writer_.lost();
}

void MetricsFiles::append(const std::string& line) {
  for (const auto& file : files_) file->append(line);
}

void MetricsFiles::look() {
  for (const auto& file : files_) file->look();
}

Result<void> MetricsFiles::close() {
  Result<void> closed;
  for (const auto& file : files_) {
    if (Result<void> one = file->close(); closed && !one) closed = std::move(one);
  }
  return closed;
}

}  // namespace sterna::launcher
