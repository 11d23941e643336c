#include "launcher/view/live_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <string_view>
#include <utility>

#include "launcher/text/environment.h"
#include "launcher/text/text_format.h"
#include "launcher/view/cursor_guard.h"

namespace sterna::launcher {
namespace {

constexpr Duration kFrameTime = std::chrono::milliseconds(100);
// Without wrapping, a line that is too long after all cannot push the view apart.
constexpr std::string_view kHideCursor = "\x1b[?25l\x1b[?7l";
constexpr std::string_view kEraseLineEnd = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";

/// The character set is named in the first of these that is set.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name).value_or("");
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

ViewOptions terminal_options(int terminal) {
  ViewOptions options;
  winsize size{};
  if (ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    options.width = size.ws_col;
    options.height = size.ws_row;
  }
  options.color = environment("NO_COLOR").value_or("").empty();
  options.utf8 = locale_is_utf8();
  return options;
}

namespace {

/// Columns of a line with ANSI colours.
std::size_t columns_on_screen(std::string_view line) {
  std::string visible;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm') ++i;
    } else {
      visible += line[i];
    }
  }
  return columns(visible);
}

using MakeView = std::function<std::unique_ptr<RunView>(TextSink&)>;

/// A view and the thread that writes what it shows.
class WrittenView final : public RunView {
 public:
  /// `guard`: of one that hides the cursor.
  WrittenView(std::FILE* out, const MakeView& make, std::unique_ptr<CursorGuard> guard)
      : guard_(std::move(guard)),
        writer_(to_descriptor(fileno(out), failed_)),
        view_(make(writer_)) {}
  void update(const RunStatus& status) override { view_->update(status); }
  void finish(const RunStatus& status) override { view_->finish(status); }
  void say(std::string_view line) override { view_->say(line); }
  int failed() const override { return *failed_; }

 private:
  std::shared_ptr<std::atomic<int>> failed_ = std::make_shared<std::atomic<int>>(0);
  std::unique_ptr<CursorGuard> guard_;  ///< until the writer has shown the cursor
  TextWriter writer_;
  std::unique_ptr<RunView> view_;
};

}  // namespace

LiveView::LiveView(TextSink& out, const Clock& clock, std::function<ViewOptions()> options)
    : out_(out), clock_(clock), options_(std::move(options)) {}

LiveView::~LiveView() {
  if (drawn_at_) out_.put(std::string(kShowCursor));
}

void LiveView::note(const RunStatus& status) {
  if (status.loss && status.step != noted_step_) {
    noted_step_ = status.step;
    trends_.loss.add(*status.loss);
  }
  if (status.precision_at_1 && status.precision_step != noted_precision_) {
    noted_precision_ = status.precision_step;
    trends_.precision.add(*status.precision_at_1);
  }
}

void LiveView::update(const RunStatus& status) {
  note(status);
  if (drawn_at_ && clock_.now() - *drawn_at_ < kFrameTime) return;
  if (!out_.idle()) return;
  draw(status);
}

void LiveView::finish(const RunStatus& status) {
  note(status);
  draw(status);
}

void LiveView::draw(const RunStatus& status) {
  const ViewOptions options = options_();
  const std::vector<std::string> lines = render(status, options, trends_);
  std::string frame(drawn_at_ ? "" : kHideCursor);
  // A terminal that became narrower has broken the old lines into several rows each.
  std::size_t rows = 0;
  for (const std::size_t width : drawn_columns_) {
    rows += options.width > 0 && width > 0 ? (width + options.width - 1) / options.width : 1;
  }
  if (rows > 0) frame += fmt::format("\x1b[{}A", rows);
  drawn_columns_.clear();
  for (const std::string& line : lines) {
    frame += '\r';
    frame += line;
    drawn_columns_.push_back(columns_on_screen(line));
    // After a full line the cursor stands on its last character, which must stay.
    if (drawn_columns_.back() < options.width) frame += kEraseLineEnd;
    frame += '\n';
  }
  frame += kEraseBelow;
  out_.put(std::move(frame));
  drawn_at_ = clock_.now();
}

PlainLog::PlainLog(TextSink& out, const Clock& clock, Duration interval)
    : out_(out), clock_(clock), interval_(interval) {}

void PlainLog::update(const RunStatus& status) {
  if (status.codecs != codecs_) {
    codecs_ = status.codecs;
    out_.put(fmt::format("codec auto: {}\n", printable(codecs_)));
  }
  if (status.restarts != restarts_) {
    restarts_ = status.restarts;
    out_.put(printable(status.restart) + "\n");
  }
  // Of a run that does not train it is among the log lines.
  if (status.actor_restarts > actor_restarts_ && status.steps > 0 &&
      !status.actor_restart.empty()) {
    const bool moves = status.actor_restart.find("; it moves to ") != std::string::npos;
    out_.put(printable(status.actor_restart) + (moves ? "\n" : "; it is started again\n"));
  }
  actor_restarts_ = status.actor_restarts;
  print_log(status);
  const bool evaluated = status.precision_at_1 && status.precision_step != precision_step_;
  const bool due = !printed_at_ || clock_.now() - *printed_at_ >= interval_;
  if (evaluated || due) {
    print(status);
  } else {
    print_phase(status);
  }
}

void PlainLog::finish(const RunStatus& status) {
  print_log(status);
  if (status.precision_at_1 && status.precision_step != precision_step_) print(status);
  print_phase(status);
}

/// A line has the numbers of that step already.
void PlainLog::print_phase(const RunStatus& status) {
  if (status.phase == phase_) return;
  if (status.steps == 0 || status.step != step_) return print(status);
  phase_ = status.phase;
  out_.put(phase_ + "\n");
}

void PlainLog::say(std::string_view line) { out_.put(printable(line) + "\n"); }

void PlainLog::print_log(const RunStatus& status) {
  if (status.steps > 0) return;
  const std::vector<std::string>& lines = status.log_lines;
  const std::uint64_t fresh = std::min<std::uint64_t>(lines.size(), status.logged - logged_);
  logged_ = status.logged;
  for (std::size_t i = lines.size() - fresh; i < lines.size(); ++i) {
    say(lines[i]);
  }
}

void PlainLog::print(const RunStatus& status) {
  printed_at_ = clock_.now();
  phase_ = status.phase;
  if (status.precision_at_1) precision_step_ = status.precision_step;
  step_ = status.step;
  out_.put(plain_line(status) + "\n");
}

std::unique_ptr<RunView> on_writer(std::FILE* out, const MakeView& make) {
  std::fflush(out);  // what was said before comes first
  return std::make_unique<WrittenView>(out, make, nullptr);
}

std::unique_ptr<RunView> make_run_view(std::FILE* out, const Clock& clock,
                                       const RunViewChoice& choice) {
  const int descriptor = fileno(out);
  const std::string term = environment("TERM").value_or("dumb");
  const bool live = !choice.plain && isatty(descriptor) == 1 && !term.empty() && term != "dumb";
  if (!live) {
    return on_writer(out, [&](TextSink& sink) { return std::make_unique<PlainLog>(sink, clock); });
  }
  const auto options = [descriptor, by_host = choice.by_host] {
    ViewOptions now = terminal_options(descriptor);
    now.by_host = by_host;
    return now;
  };
  const auto make = [&](TextSink& sink) {
    return std::make_unique<LiveView>(sink, clock, options);
  };
  std::fflush(out);
  return std::make_unique<WrittenView>(out, make, std::make_unique<CursorGuard>(descriptor));
}

}  // namespace sterna::launcher
