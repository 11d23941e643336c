// The renderer of the live view: a title, a progress bar, facts that flow over as many lines as
// they need, a table of actors whose least telling columns go first when the terminal is narrow,
// and the latest log lines where there is room.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"
#include "launcher/view/live_view.h"
#include "launcher/view/run_facts.h"

namespace sterna::launcher {
namespace {

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
  int priority = 0;  ///< as ColumnSize has it
  bool left = false;
  std::string (*cell)(const ActorStatus&) = nullptr;
};

/// Whether its process has told of itself: one that ends at once may never.
bool has_told(const ActorStatus& actor) {
  return actor.memory_bytes + actor.queue_bytes + actor.bytes_in + actor.bytes_out > 0;
}

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
    {"queued", 2, false,
     [](const ActorStatus& a) { return or_dash(has_told(a), bytes_text(a.queue_bytes)); }},
    {"lag", 4, false,
     [](const ActorStatus& a) {
       return or_dash(has_told(a), fmt::format("{:.1f} ms", a.loop_lag_ms));
     }},
    {"in", 1, false,
     [](const ActorStatus& a) { return or_dash(has_told(a), bytes_text(a.bytes_in)); }},
    {"out", 1, false,
     [](const ActorStatus& a) { return or_dash(has_told(a), bytes_text(a.bytes_out)); }},
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
  std::array<ColumnSize, kAllColumns.size()> sizes;
  for (std::size_t i = 0; i < kAllColumns.size(); ++i) {
    layout.widths[i] = width_of(kAllColumns[i], actors);
    if (!kAllColumns[i].left) layout.widths[i] = std::max(layout.widths[i], kSizeWidth);
    sizes[i] = {layout.widths[i], kAllColumns[i].priority};
  }
  layout.shown = columns_that_fit(sizes, width);
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

/// The state that says most of several: a death, then what is not running yet or no more.
std::string worst_state(const std::vector<const ActorStatus*>& actors) {
  for (const char* state : {"dead", "killed", "stopping", "restarting", "starting", "running"}) {
    if (std::ranges::any_of(actors, [&](const auto* actor) { return actor->state == state; })) {
      return state;
    }
  }
  return actors.front()->state;
}

/// A row for each host, in the order in which actors name them.
std::vector<ActorStatus> hosts_of(const std::vector<ActorStatus>& actors) {
  std::vector<std::pair<std::string, std::vector<const ActorStatus*>>> hosts;
  for (const ActorStatus& actor : actors) {
    const auto known =
        std::ranges::find(hosts, actor.host, [](const auto& one) { return one.first; });
    auto& host = known != hosts.end()
                     ? *known
                     : hosts.emplace_back(actor.host, std::vector<const ActorStatus*>());
    host.second.push_back(&actor);
  }
  std::vector<ActorStatus> rows;
  for (const auto& [name, on_it] : hosts) {
    ActorStatus row;
    row.name = name.empty() ? "this host" : name;
    row.role = fmt::format("{} actor{}", on_it.size(), on_it.size() == 1 ? "" : "s");
    row.state = worst_state(on_it);
    for (const ActorStatus* actor : on_it) {
      row.memory_bytes += actor->memory_bytes;
      row.queue_bytes += actor->queue_bytes;
      row.bytes_in += actor->bytes_in;
      row.bytes_out += actor->bytes_out;
      row.loop_lag_ms = std::max(row.loop_lag_ms, actor->loop_lag_ms);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void table(const std::vector<ActorStatus>& actors, const ViewOptions& options, std::size_t room,
           std::vector<std::string>& lines) {
  if (actors.empty() || room < 2) return;
  // The dead first: they are what one looks for when not all fit.
  std::vector<const ActorStatus*> order;
  order.reserve(actors.size());
  for (const ActorStatus& actor : actors) order.push_back(&actor);
  const bool all_fit = order.size() + 1 <= room;
  if (!all_fit) {
    std::stable_partition(order.begin(), order.end(),
                          [](const ActorStatus* actor) { return actor->state == "dead"; });
  }
  const std::size_t shown = all_fit ? order.size() : room - 2;
  const Layout layout = lay_out(actors, options.width);
  lines.push_back(row(
      layout, options,
      [&](std::size_t i) {
        return std::string(i == 0 && options.by_host ? "host" : kAllColumns[i].title);
      },
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

/// What it is, and its trend in what is left of the line.
void trend(std::string_view what, const Trend& trend, const ViewOptions& options,
           std::vector<std::string>& lines) {
  constexpr std::size_t kMostColumns = 60;
  Line line(options);
  line.add(what, Style::dim);
  const std::size_t room = options.width - std::min(options.width, line.used());
  const std::string bars = sparkline(trend.means(), std::min(kMostColumns, room));
  if (bars.empty()) return;
  line.add(bars);
  lines.push_back(std::move(line).text());
}

}  // namespace

std::vector<std::string> render(const RunStatus& status, const ViewOptions& options,
                                const Trends& trends) {
  std::vector<std::string> lines;
  lines.push_back(title(status, options));
  if (status.steps > 0) lines.push_back(progress_bar(status, options));
  flow(facts(status), options, lines);
  if (options.utf8) {
    trend("loss         ", trends.loss, options, lines);
    trend("precision@1  ", trends.precision, options, lines);
  }
  const std::size_t most = options.height > 1 ? options.height - 1 : 1;
  if (lines.size() + 3 <= most && !status.actors.empty()) {
    lines.emplace_back();
    // The latest log line (a death's cause) stays in sight, even at the table's cost.
    const std::size_t room = most - lines.size();
    constexpr std::size_t kForLog = 2;
    const bool keep = !status.log_lines.empty() && room >= kForLog + 3;
    table(options.by_host ? hosts_of(status.actors) : status.actors, options,
          keep ? room - kForLog : room, lines);
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
