// A run on a screen: a pure renderer, a view that redraws in place on a terminal, and a plain log
// for everything that is not a terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/view/run_status.h"
#include "launcher/view/trend.h"
#include "runtime/base/clock.h"
#include "runtime/loop/text_writer.h"

namespace sterna::launcher {

struct ViewOptions {
  std::size_t width = 80;   ///< columns; no line is longer
  std::size_t height = 24;  ///< rows; there are fewer lines than that
  bool color = false;       ///< ANSI colours; they take no columns
  bool utf8 = true;         ///< else only ASCII, and no trends
  bool by_host = false;     ///< a row for each host in place of one for each actor
};

/// How the loss and the precision have come to be what they are.
struct Trends {
  Trend loss;
  Trend precision;
};

/// The view of `status`, a line each, without line ends. Pure.
std::vector<std::string> render(const RunStatus& status, const ViewOptions& options,
                                const Trends& trends = {});

/// What a terminal, by its descriptor, and the environment are for: its size where it has one, else
/// the defaults.
ViewOptions terminal_options(int terminal);

/// `status` on one line, for a log.
std::string plain_line(const RunStatus& status);

/// Where a run's progress goes. Nobody else may write to the same terminal while it lives.
class RunView {
 public:
  virtual ~RunView() = default;
  /// As often as anything changes; the view limits its own rate.
  virtual void update(const RunStatus& status) = 0;
  /// The last state, always shown.
  virtual void finish(const RunStatus& status) = 0;
  /// A line of news that is to stay. A view that redraws in place has it among the status's log
  /// lines, and shows it there.
  virtual void say(std::string_view /*line*/) {}
  /// The errno of what could not be written; 0: nothing was lost so far.
  virtual int failed() const { return 0; }
};

/// Redraws in place, at most ten times a second. The cursor is hidden meanwhile and comes back
/// below the view when this is destroyed; where a signal ends the process, see CursorGuard.
class LiveView final : public RunView {
 public:
  /// `options` is asked before each drawing: terminals change their size. `out` and `clock` must
  /// outlive this. Where the terminal has not taken the drawing before, there is no further one.
  LiveView(TextSink& out, const Clock& clock, std::function<ViewOptions()> options);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;
  ~LiveView() override;
  void update(const RunStatus& status) override;
  void finish(const RunStatus& status) override;

 private:
  void draw(const RunStatus& status);
  void note(const RunStatus& status);
  TextSink& out_;
  const Clock& clock_;
  std::function<ViewOptions()> options_;
  Trends trends_;
  std::int64_t noted_step_ = -1;
  std::int64_t noted_precision_ = -1;
  std::optional<Time> drawn_at_;
  std::vector<std::size_t> drawn_columns_;  ///< of each line on the screen
};

/// Prints plain_line() when the phase changes, at every evaluation, and else every `interval`; and
/// once, before it, which codecs gradient.codec = "auto" has chosen. A line for each restart, of
/// all or of one actor. Of a run that does not train also every log line.
class PlainLog final : public RunView {
 public:
  PlainLog(TextSink& out, const Clock& clock, Duration interval = std::chrono::seconds(5));
  void update(const RunStatus& status) override;
  void finish(const RunStatus& status) override;
  void say(std::string_view line) override;

 private:
  void print(const RunStatus& status);
  void print_phase(const RunStatus& status);
  void print_log(const RunStatus& status);
  TextSink& out_;
  const Clock& clock_;
  Duration interval_;
  std::optional<Time> printed_at_;
  std::string phase_;
  std::uint64_t restarts_ = 0;        ///< that were told
  std::uint64_t actor_restarts_ = 0;  ///< likewise
  std::string codecs_;
  std::int64_t precision_step_ = -1;
  std::uint64_t logged_ = 0;
  std::int64_t step_ = -1;  ///< that the last line has numbers of
};

/// How somebody wants to see a run.
struct RunViewChoice {
  bool plain = false;    ///< a PlainLog always: for who has the screen read to them
  bool by_host = false;  ///< as ViewOptions has it
};

/// A LiveView where `out` is a terminal (its size, $TERM, $NO_COLOR and the locale's character set
/// respected), else a PlainLog. Nobody waits for it.
std::unique_ptr<RunView> make_run_view(std::FILE* out, const Clock& clock,
                                       const RunViewChoice& choice = {});

/// The view that `make` makes, on a writer of its own to `out`: whoever updates it does not wait.
std::unique_ptr<RunView> on_writer(std::FILE* out,
                                   const std::function<std::unique_ptr<RunView>(TextSink&)>& make);

}  // namespace sterna::launcher
