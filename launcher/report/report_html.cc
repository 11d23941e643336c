#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "launcher/report/report.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
figure { margin: 1.5rem 0; }
figure img { width: 100%; height: auto; background: #fff; border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.15rem 0.8rem 0.15rem 0; text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid; }
td.number, th.number { text-align: right; }
.long { word-break: break-all; }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid; border-radius: 4px; }
.failed { font-weight: 600; }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// As an address: a picture within the file, whose names meet no other picture's.
std::string data_address(std::string_view svg) {
  std::string out = "data:image/svg+xml,";
  for (const char c : svg) {
    constexpr std::string_view kTold = "%#<>\"'&\n\r\t?{}|\\^`[]";
    if (kTold.find(c) == std::string_view::npos && static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

class Page {
 public:
  void line(const std::string& html) { html_ += html + "\n"; }
  void heading(int level, const std::string& text) {
    line(fmt::format("<h{0}>{1}</h{0}>", level, escaped(text)));
  }

  /// Rows of texts; those that are numbers stand to the right.
  struct Cell {
    std::string text;
    bool number = false;
  };
  void table(const std::vector<Cell>& head, const std::vector<std::vector<Cell>>& rows) {
    line("<div class=\"wide\"><table>");
    row("th", head);
    for (const std::vector<Cell>& cells : rows) row("td", cells);
    line("</table></div>");
  }

  std::string take() { return std::move(html_); }

 private:
  /// A hash, or a name that has no place to break it, is not to make a column wider than a phone.
  static const char* class_of(const Cell& cell) {
    constexpr std::size_t kWord = 40;
    if (cell.number) return " class=\"number\"";
    const bool is_word = cell.text.find(' ') == std::string::npos;
    return is_word && cell.text.size() > kWord ? " class=\"long\"" : "";
  }
  void row(const char* tag, const std::vector<Cell>& cells) {
    html_ += "<tr>";
    for (const Cell& cell : cells) {
      html_ += fmt::format("<{0}{1}>{2}</{0}>", tag, class_of(cell), escaped(cell.text));
    }
    html_ += "</tr>\n";
  }
  std::string html_;
};

using Cell = Page::Cell;

Cell number_cell(const Json& object, const char* name, const char* format) {
  const std::optional<double> value = json_number_of(object, name);
  return {value ? fmt::format(fmt::runtime(format), *value) : "", true};
}

void add_curve(Page& page, const ReportCurve& curve) {
  page.line("<figure>");
  page.line(fmt::format("<img alt=\"{}: {} against {}\" src=\"{}\">", escaped(curve.title),
                        escaped(curve.y_label), escaped(curve.x_label), data_address(curve.svg)));
  std::string caption = curve.title + ": where each curve ends";
  if (curve.has_means)
    caption += "; one of several runs is the mean of those that have come so far";
  if (curve.left_out > 0) {
    caption += fmt::format("; left out: {} without this", counted(curve.left_out, "run"));
  }
  if (!curve.note.empty()) caption += "; a ring: " + curve.note;
  page.line("<figcaption>" + escaped(caption) + "</figcaption>");
  std::vector<std::vector<Cell>> rows;
  for (const ReportCurve::End& end : curve.ends) {
    rows.push_back({{end.label}, {end.x, true}, {fmt::format("{:.4g}", end.y), true}});
  }
  page.table({{"runs"}, {curve.x_label, true}, {curve.y_label, true}}, rows);
  page.line("</figure>");
}

/// Those of the result that say how far it came, how well, and where the time went.
void add_result(Page& page, const ReportRun& run) {
  if (run.result.is_null()) {
    page.line("<p class=\"failed\">There is no result: the run goes on, or was killed.</p>");
    return;
  }
  const double exit = json_number_of(run.result, "exit").value_or(0);
  if (exit != 0) {
    page.line(fmt::format("<p class=\"failed\">Ended with exit code {}: {}</p>", exit,
                          escaped(json_text_of(run.result, "cause", "no cause is known"))));
  }
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const char* what, const char* name, const char* format, double factor = 1) {
    if (const std::optional<double> value = json_number_of(run.result, name)) {
      rows.push_back({{what}, {fmt::format(fmt::runtime(format), *value * factor)}});
    }
  };
  add("steps", "steps", "{:.0f}");
  add("workers", "workers", "{:.0f}");
  add("ranks", "ranks", "{:.0f}");
  add("precision@1", "precision_at_1", "{:.4f}");
  add("recall@5", "recall_at_5", "{:.4f}");
  add("loss of the last step, weight decay included", "loss", "{:.4f}");
  add("weight decay's part of it", "decay_loss", "{:.4f}");
  add("seconds from the first step on", "seconds", "{:.1f}");
  add("seconds until the first step", "seconds_to_first_step", "{:.2f}");
  add("examples a second", "examples_per_second", "{:.0f}");
  constexpr double kPercent = 100;
  add("of the time waits for data, %", "data_wait", "{:.1f}", kPercent);
  add("of the time waits for the evaluator, %", "evaluator_wait", "{:.1f}", kPercent);
  add("MB sent by workers", "bytes_up", "{:.1f}", 1e-6);
  add("MB received by them", "bytes_down", "{:.1f}", 1e-6);
  add("bits an element up", "bits_per_element_up", "{:.3f}");
  add("bits an element down", "bits_per_element_down", "{:.3f}");
  add("gradients that came too late", "late_packets", "{:.0f}");
  add("mean staleness of gradients, in versions", "staleness", "{:.2f}");
  add("most staleness of any", "most_stale", "{:.0f}");
  add("checkpoints missed", "missed_checkpoints", "{:.0f}");
  for (const auto& [what, name] :
       {std::pair("codec", "codec"), std::pair("data", "data"), std::pair("transport", "transport"),
        std::pair("security", "security"), std::pair("instructions", "isa"),
        std::pair("parameters, SHA-256", "parameters_sha256")}) {
    const std::string text = json_text_of(run.result, name, "");
    if (!text.empty()) rows.push_back({{what}, {text}});
  }
  page.table({{"what"}, {"came to"}}, rows);
}

void add_losses(Page& page, const ReportRun& run) {
  const auto consequences =
      run.result.is_object() ? run.result.find("consequences") : run.result.end();
  const bool deaths = run.result.is_object() && consequences != run.result.end() &&
                      consequences->is_array() && !consequences->empty();
  if (run.restarts.empty() && !deaths) return;
  page.heading(3, "What was lost");
  std::vector<std::vector<Cell>> rows;
  for (const Json& restart : run.restarts) {
    rows.push_back({{json_text_of(restart, "cause", "")},
                    number_cell(restart, "step", "{:.0f}"),
                    number_cell(restart, "steps_again", "{:.0f}")});
  }
  if (!rows.empty()) {
    page.table({{"cause"}, {"went on from step", true}, {"steps done again", true}}, rows);
  }
  if (!deaths) return;
  page.line("<ul>");
  for (const Json& one : *consequences) {
    if (one.is_string()) page.line("<li>" + escaped(one.get<std::string>()) + "</li>");
  }
  page.line("</ul>");
}

void add_tensors(Page& page, const ReportRun& run) {
  if (run.tensors.empty()) return;
  page.heading(3, "Tensors");
  std::vector<std::vector<Cell>> rows;
  for (const Json& line : run.tensors) {
    rows.push_back({{json_text_of(line, "tensor", "")},
                    {json_text_of(line, "codec", "")},
                    number_cell(line, "elements", "{:.0f}"),
                    number_cell(line, "bits_up", "{:.2f}"),
                    number_cell(line, "bits_down", "{:.2f}"),
                    number_cell(line, "ratio", "{:.2f}"),
                    number_cell(line, "nonzero", "{:.3f}"),
                    number_cell(line, "saturated", "{:.4f}"),
                    number_cell(line, "encode_seconds", "{:.2e}"),
                    number_cell(line, "decode_seconds", "{:.2e}"),
                    number_cell(line, "exchange_seconds", "{:.2e}")});
  }
  page.table({{"tensor"},
              {"codec"},
              {"elements", true},
              {"bits up", true},
              {"bits down", true},
              {"times fewer bytes", true},
              {"nonzero", true},
              {"saturated", true},
              {"encode s", true},
              {"decode s", true},
              {"exchange s", true}},
             rows);
}

void add_evaluations(Page& page, const ReportRun& run) {
  if (run.evaluations.empty()) return;
  page.heading(3, "Evaluations");
  std::vector<std::vector<Cell>> rows;
  for (const Json& line : run.evaluations) {
    rows.push_back({number_cell(line, "step", "{:.0f}"),
                    {json_text_of(line, "subset", "")},
                    {json_text_of(line, "of", "")},
                    number_cell(line, "precision_at_1", "{:.4f}"),
                    number_cell(line, "recall_at_5", "{:.4f}"),
                    number_cell(line, "loss", "{:.4f}"),
                    number_cell(line, "examples", "{:.0f}")});
  }
  page.table({{"step", true},
              {"subset"},
              {"of"},
              {"precision@1", true},
              {"recall@5", true},
              {"loss", true},
              {"examples", true}},
             rows);
}

void add_run(Page& page, const ReportRun& run) {
  page.heading(2, run.path);
  add_result(page, run);
  add_losses(page, run);
  add_evaluations(page, run);
  add_tensors(page, run);
  if (run.resolved.empty()) return;
  page.line("<details><summary>The run's file</summary>");
  page.line("<pre>" + escaped(run.resolved) + "</pre></details>");
}

}  // namespace

std::string to_html(const Report& report) {
  Page page;
  const std::string title = report.runs.size() == 1 ? report.runs.front().path
                                                    : fmt::format("{} runs", report.runs.size());
  page.line("<!doctype html>");
  page.line("<html lang=\"en\"><head><meta charset=\"utf-8\">");
  page.line("<meta name=\"viewport\" content=\"width=device-width\">");
  page.line("<title>" + escaped(title) + "</title>");
  page.line("<style>" + std::string(kStyle) + "</style></head><body>");
  page.heading(1, title);
  for (const ReportCurve& curve : report.curves) add_curve(page, curve);
  for (const ReportRun& run : report.runs) add_run(page, run);
  page.line("</body></html>");
  return valid_utf8(page.take());  // paths may be anything
}

}  // namespace sterna::launcher
