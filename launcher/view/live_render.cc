// The renderer of the live view: a title, a progress bar, facts that flow over as many lines as
// they need, a table of actors whose least telling columns go first when the terminal is narrow,
// and the latest log lines where there is room.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "launcher/text/text_format.h"
#include "launcher/view/live_view.h"

namespace sterna::launcher {
namespace {

/// Bytes that take so long on a slow network that somebody may wonder.
constexpr std::uint64_t kWorthSaying = 1'000'000;
/// The part of the time that workers wait for data, or training for the evaluator, from which it is
/// said what would help.
constexpr double kStarved = 0.1;
/// ... that training waits for the evaluator from which it is said.
constexpr double kWorthSayingOfWaits = 0.005;

enum class Style { plain, bold, dim, good, bad, wait };

std::string_view code_of(Style style) {
  switch (style) {
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::bad:
      return "\x1b[1;31m";
    case Style::wait:
      return "\x1b[33m";
    case Style::plain:
      break;
  }
  return "";
}

struct Glyphs {
  std::string_view full, rest, dot, mark;
};

Glyphs glyphs(bool utf8) {
  if (utf8) return {"━", "─", " · ", "…"};
  return {"#", "-", " | ", "~"};
}

/// A '?' for every character that is none of ASCII's.
std::string ascii(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool follows = (byte & 0xC0) == 0x80;  // a lead byte
    if (!follows) result += byte < 0x80 ? c : '?';
  }
  return result;
}

/// A line in the making: pieces of text, each in a style, never more than the width.
class Line {
 public:
  explicit Line(const ViewOptions& options) : options_(&options) {}

  Line& add(std::string_view text, Style style = Style::plain) {
    const std::size_t room = options_->width - std::min(options_->width, used_);
    const std::string shown = options_->utf8 ? std::string(text) : ascii(text);
    const std::string piece = cut(shown, room, glyphs(options_->utf8).mark);
    used_ += columns(piece);
    if (piece.empty()) return *this;
    const std::string_view code = options_->color ? code_of(style) : "";
    text_ += code;
    text_ += piece;
    if (!code.empty()) text_ += "\x1b[0m";
    return *this;
  }
  std::size_t used() const { return used_; }
  std::string text() && { return std::move(text_); }

 private:
  const ViewOptions* options_;
  std::string text_;
  std::size_t used_ = 0;
};

std::string repeated(std::string_view glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

std::string title(const RunStatus& status, const ViewOptions& options) {
  const std::string config = printable(status.config);
  const std::string directory = printable(status.run_directory);
  Line line(options);
  line.add(config, Style::bold);
  const std::size_t gap = 2;
  if (!directory.empty() && line.used() + gap + columns(directory) <= options.width) {
    line.add(std::string(options.width - line.used() - columns(directory), ' '));
    line.add(directory, Style::dim);
  }
  return std::move(line).text();
}

std::string progress_bar(const RunStatus& status, const ViewOptions& options) {
  const double part =
      std::clamp(static_cast<double>(status.step) / static_cast<double>(status.steps), 0.0, 1.0);
  // Rounded down: 100 % means that the last step is done.
  std::string label =
      fmt::format(" {:3} %  step {} of {}", static_cast<int>(std::floor(part * 100)),
                  thousands(status.step), thousands(status.steps));
  constexpr std::size_t kShortestBar = 8;
  if (columns(label) + kShortestBar > options.width) {
    label = fmt::format(" {:3} %", static_cast<int>(std::floor(part * 100)));
  }
  const Glyphs glyph = glyphs(options.utf8);
  Line line(options);
  if (columns(label) < options.width) {
    const std::size_t length = options.width - columns(label);
    const auto full = static_cast<std::size_t>(std::floor(part * static_cast<double>(length)));
    line.add(repeated(glyph.full, full), Style::good);
    line.add(repeated(glyph.rest, length - full), Style::dim);
  }
  line.add(label);
  return std::move(line).text();
}

struct Fact {
  std::string text;
  Style style = Style::plain;
};

/// "3 actors: 1 running, 2 done"; of actors that train, their steps say more.
std::string states_of(const std::vector<ActorStatus>& actors) {
  std::string text = fmt::format("{} actor{}:", actors.size(), actors.size() == 1 ? "" : "s");
  std::string_view comma;
  for (const char* state :
       {"starting", "running", "stopping", "done", "stopped", "killed", "dead"}) {
    const auto count = std::count_if(actors.begin(), actors.end(), [&](const ActorStatus& actor) {
      return actor.state == state;
    });
    if (count == 0) continue;
    text += fmt::format("{} {} {}", comma, count, state);
    comma = ",";
  }
  return text;
}

/// "reader0 decodes 410 pictures/s on 1 thread"; of several the slowest and the fastest, and the
/// threads of each.
std::string rates_of(const std::vector<ReaderRate>& readers) {
  const auto slower = [](const ReaderRate& a, const ReaderRate& b) {
    return a.pictures_per_second < b.pictures_per_second;
  };
  const auto [least, most] = std::minmax_element(readers.begin(), readers.end(), slower);
  const std::string slowest = thousands(std::llround(least->pictures_per_second));
  const std::string fastest = thousands(std::llround(most->pictures_per_second));
  const std::uint32_t threads = least->threads;
  const std::string on = fmt::format("on {} thread{}", threads, threads == 1 ? "" : "s");
  if (readers.size() == 1) {
    return fmt::format("{} decodes {} pictures/s {}", printable(least->reader), slowest, on);
  }
  const std::string range = slowest == fastest ? slowest : slowest + " to " + fastest;
  return fmt::format("{} readers decode {} pictures/s each {}", readers.size(), range, on);
}

/// How long workers wait for data and, where that is long, what would help.
void add_data_facts(double wait, const std::vector<ReaderRate>& readers, std::vector<Fact>& all) {
  const bool starved = wait >= kStarved;
  const Style style = starved ? Style::wait : Style::plain;
  all.push_back({fmt::format("{}{:.0f} % of the time waits for data",
                             starved ? "input-bound: " : "", 100 * wait),
                 style});
  if (!readers.empty()) all.push_back({rates_of(readers), style});
  if (starved) all.push_back({"more input readers or data.threads would help", style});
}

/// The last evaluation, and precision@1 of what else was evaluated: "on train 0.9990, of
/// parameters 0.9710".
void add_precision(const RunStatus& status, std::vector<Fact>& all) {
  if (!status.precision_at_1) return;
  std::string text = fmt::format("precision@1 {:.4f}", *status.precision_at_1);
  if (status.recall_at_5) text += fmt::format(", recall@5 {:.4f}", *status.recall_at_5);
  text += fmt::format(" at step {}", thousands(status.precision_step));
  all.push_back({std::move(text), Style::bold});
  if (!status.others.empty()) {
    std::vector<std::string> others;
    for (const OtherPrecision& other : status.others) {
      others.push_back(fmt::format("{} {:.4f}", printable(other.what), other.precision_at_1));
    }
    all.push_back({fmt::format("{}", fmt::join(others, ", "))});
  }
  if (status.skipped_evaluations > 0) {
    all.push_back({fmt::format("{} evaluation{} skipped", status.skipped_evaluations,
                               status.skipped_evaluations == 1 ? "" : "s")});
  }
}

/// How much of the time training stands still until the evaluator has taken a version.
void add_evaluator_wait(double wait, std::vector<Fact>& all) {
  if (wait < kWorthSayingOfWaits) return;
  const bool stands = wait >= kStarved;
  const Style style = stands ? Style::wait : Style::plain;
  all.push_back({fmt::format("{:.0f} % of the time waits for the evaluator", 100 * wait), style});
  if (stands) all.push_back({"fewer evaluator.examples or behind = \"skip\" would help", style});
}

std::vector<Fact> facts(const RunStatus& status) {
  std::vector<Fact> all;
  if (status.phase != "training" && !status.phase.empty()) {
    all.push_back({printable(status.phase), status.phase == "failed" ? Style::bad : Style::wait});
  }
  // Before the first step big nets and batches travel for a while.
  std::uint64_t received = 0;
  for (const ActorStatus& actor : status.actors) received += actor.bytes_in;
  if (status.phase == "starting" && received >= kWorthSaying) {
    all.push_back({bytes_text(received) + " received"});
  }
  if (status.steps == 0 && !status.actors.empty()) all.push_back({states_of(status.actors)});
  if (status.loss) all.push_back({fmt::format("loss {:.4f}", *status.loss)});
  add_precision(status, all);
  if (status.examples_per_second) {
    all.push_back(
        {fmt::format("{} examples/s", thousands(std::llround(*status.examples_per_second)))});
  }
  if (status.evaluator_wait) add_evaluator_wait(*status.evaluator_wait, all);
  if (status.data_wait) add_data_facts(*status.data_wait, status.readers, all);
  if (status.bits_up) {
    std::string text = fmt::format("bits/element {:.2f} up", *status.bits_up);
    if (status.bits_down) text += fmt::format(", {:.2f} down", *status.bits_down);
    all.push_back({std::move(text)});
  }
  if (status.nonzero) {
    std::string text = fmt::format("{:.1f} % of trits not 0", 100 * *status.nonzero);
    if (status.saturated) text += fmt::format(", {:.2f} % saturated", 100 * *status.saturated);
    all.push_back({std::move(text)});
  }
  std::string time = seconds_text(status.elapsed_seconds) + " elapsed";
  if (status.left_seconds) time += ", " + seconds_text(*status.left_seconds) + " left";
  all.push_back({std::move(time)});
  return all;
}

void flow(const std::vector<Fact>& items, const ViewOptions& options,
          std::vector<std::string>& lines) {
  const std::string_view dot = glyphs(options.utf8).dot;
  Line line(options);
  for (const Fact& item : items) {
    if (line.used() > 0 && line.used() + columns(dot) + columns(item.text) > options.width) {
      lines.push_back(std::move(line).text());
      line = Line(options);
    }
    if (line.used() > 0) line.add(dot, Style::dim);
    line.add(item.text, item.style);
  }
  lines.push_back(std::move(line).text());
}

Style style_of_state(std::string_view state) {
  if (state == "running") return Style::good;
  if (state == "dead" || state == "killed") return Style::bad;
  return state == "done" || state == "stopped" ? Style::dim : Style::wait;
}

struct Column {
  std::string_view title;
  int priority = 0;  ///< the highest goes first when there is no room
  bool left = false;
  std::string (*cell)(const ActorStatus&) = nullptr;
};

std::string or_dash(bool known, std::string text) { return known ? std::move(text) : "-"; }

constexpr std::size_t kStateColumn = 1;
constexpr std::array<Column, 9> kAllColumns = {{
    {"actor", 0, true, [](const ActorStatus& a) { return printable(a.name); }},
    {"state", 0, true, [](const ActorStatus& a) { return printable(a.state); }},
    {"role", 6, true, [](const ActorStatus& a) { return printable(a.role); }},
    {"pid", 3, false,
     [](const ActorStatus& a) { return or_dash(a.pid > 0, std::to_string(a.pid)); }},
    {"memory", 5, false,
     [](const ActorStatus& a) { return or_dash(a.memory_bytes > 0, bytes_text(a.memory_bytes)); }},
    {"queued", 2, false, [](const ActorStatus& a) { return bytes_text(a.queue_bytes); }},
    {"lag", 4, false, [](const ActorStatus& a) { return fmt::format("{:.1f} ms", a.loop_lag_ms); }},
    {"in", 1, false, [](const ActorStatus& a) { return bytes_text(a.bytes_in); }},
    {"out", 1, false, [](const ActorStatus& a) { return bytes_text(a.bytes_out); }},
}};

std::size_t width_of(const Column& column, const std::vector<ActorStatus>& actors) {
  std::size_t width = columns(column.title);
  for (const ActorStatus& actor : actors) width = std::max(width, columns(column.cell(actor)));
  return width;
}

/// Which columns fit, as indices, and how wide they are (numbers at least as wide as any size, so
/// that the table does not jump while they grow).
struct Layout {
  std::vector<std::size_t> shown;
  std::array<std::size_t, kAllColumns.size()> widths{};
};

Layout lay_out(const std::vector<ActorStatus>& actors, std::size_t width) {
  constexpr std::size_t kSizeWidth = 7;  // "1.23 MB"
  Layout layout;
  for (std::size_t i = 0; i < kAllColumns.size(); ++i) {
    layout.widths[i] = width_of(kAllColumns[i], actors);
    if (!kAllColumns[i].left) layout.widths[i] = std::max(layout.widths[i], kSizeWidth);
  }
  for (int most = 6; most >= 0; --most) {
    layout.shown.clear();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kAllColumns.size(); ++i) {
      if (kAllColumns[i].priority > most) continue;
      sum += layout.widths[i] + (layout.shown.empty() ? 0 : 2);
      layout.shown.push_back(i);
    }
    if (sum <= width) break;
  }
  return layout;
}

template <class CellOf, class StyleOf>
std::string row(const Layout& layout, const ViewOptions& options, CellOf cell_of,
                StyleOf style_of) {
  Line line(options);
  for (const std::size_t i : layout.shown) {
    if (line.used() > 0) line.add("  ");
    const std::string cell = cell_of(i);
    const std::size_t taken = columns(cell);
    const std::string pad(layout.widths[i] > taken ? layout.widths[i] - taken : 0, ' ');
    const bool last = i == layout.shown.back();
    if (!kAllColumns[i].left) line.add(pad);
    line.add(cell, style_of(i));
    if (kAllColumns[i].left && !last) line.add(pad);
  }
  return std::move(line).text();
}

void table(const RunStatus& status, const ViewOptions& options, std::size_t room,
           std::vector<std::string>& lines) {
  if (status.actors.empty() || room < 2) return;
  // The dead first: they are what one looks for when not all fit.
  std::vector<const ActorStatus*> order;
  for (const ActorStatus& actor : status.actors) order.push_back(&actor);
  const bool all_fit = order.size() + 1 <= room;
  if (!all_fit) {
    std::stable_partition(order.begin(), order.end(),
                          [](const ActorStatus* actor) { return actor->state == "dead"; });
  }
  const std::size_t shown = all_fit ? order.size() : room - 2;
  const Layout layout = lay_out(status.actors, options.width);
  lines.push_back(row(
      layout, options, [](std::size_t i) { return std::string(kAllColumns[i].title); },
      [](std::size_t) { return Style::dim; }));
  for (std::size_t n = 0; n < shown; ++n) {
    const ActorStatus& actor = *order[n];
    lines.push_back(row(
        layout, options, [&](std::size_t i) { return kAllColumns[i].cell(actor); },
        [&](std::size_t i) {
          return i == kStateColumn ? style_of_state(actor.state) : Style::plain;
        }));
  }
  if (!all_fit) {
    Line line(options);
    line.add(fmt::format("and {} more", order.size() - shown), Style::dim);
    lines.push_back(std::move(line).text());
  }
}

}  // namespace

std::vector<std::string> render(const RunStatus& status, const ViewOptions& options) {
  std::vector<std::string> lines;
  lines.push_back(title(status, options));
  if (status.steps > 0) lines.push_back(progress_bar(status, options));
  flow(facts(status), options, lines);
  const std::size_t most = options.height > 1 ? options.height - 1 : 1;
  if (lines.size() + 3 <= most && !status.actors.empty()) {
    lines.emplace_back();
    // The latest log line (a death's cause) stays in sight, even at the table's cost.
    const std::size_t room = most - lines.size();
    constexpr std::size_t kForLog = 2;
    const bool keep = !status.log_lines.empty() && room >= kForLog + 3;
    table(status, options, keep ? room - kForLog : room, lines);
  }
  if (!status.log_lines.empty() && lines.size() + 2 <= most) {
    lines.emplace_back();
    const std::size_t room = std::min<std::size_t>(most - lines.size(), status.log_lines.size());
    for (std::size_t i = status.log_lines.size() - room; i < status.log_lines.size(); ++i) {
      Line line(options);
      line.add(printable(status.log_lines[i]), Style::dim);
      lines.push_back(std::move(line).text());
    }
  }
  if (lines.size() > most) lines.resize(most);
  return lines;
}

std::string plain_line(const RunStatus& status) {
  std::string line;
  const auto add = [&line](const std::string& part) { line += (line.empty() ? "" : ", ") + part; };
  // Actors that do not train have no steps.
  if (status.steps > 0) {
    add(fmt::format("step {} of {}", thousands(status.step), thousands(status.steps)));
  }
  for (const Fact& fact : facts(status)) add(fact.text);
  return line;
}

}  // namespace sterna::launcher
