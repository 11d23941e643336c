// sterna status: what runs where, once.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/commands/visit.h"
#include "launcher/past/overview.h"
#include "launcher/text/text_format.h"
#include "launcher/view/live_view.h"

namespace sterna::launcher {
namespace {

/// What the codec saved: all workers' gradients and parameters as floats, and as they were sent.
std::string codec_line(const RunStatus& status) {
  if (status.coded_bytes_up == 0 || status.coded_bytes_down == 0) return "";
  return fmt::format("gradients {} as {} up, parameters {} as {} down\n",
                     bytes_text(status.raw_bytes_up), bytes_text(status.coded_bytes_up),
                     bytes_text(status.raw_bytes_down), bytes_text(status.coded_bytes_down));
}

/// What the processes that run have refused, as far as one after the other answers: the first that
/// hangs ends it.
Inspection refusals(const Visit& visit, const Overview& overview) {
  std::vector<Inspection> counted;
  for (const ProcessStatus& member : overview.members) {
    if (member.state != "running") continue;
    const auto one = visit.visitor.inspect(member.process);
    if (one) counted.push_back(*one);
    if (!one && one.error().code == Errc::deadline) break;
  }
  return sum_of(counted);
}

int show(const Visit& visit, const VisitOptions& options, const Console& console) {
  const Result<Overview> overview = visit.visitor.look();
  if (!overview) return console.report(overview.error());
  const Inspection counted = refusals(visit, *overview);
  if (options.json) {
    return console.result(overview_json(visit.state, *overview, counted) + "\n");
  }
  RunStatus status = status_of(visit.state, *overview);
  status.actors.clear();               // the table below knows all processes
  constexpr std::size_t kWidth = 100;  // of what is no terminal, or a wider one
  constexpr std::size_t kHeight = 24;
  const std::size_t width =
      isatty(STDOUT_FILENO) != 0 ? std::min(kWidth, terminal_options(STDOUT_FILENO).width) : kWidth;
  std::string text;
  for (const std::string& line : render(status, {width, kHeight, false, true})) text += line + "\n";
  text += codec_line(status) + "\n";
  for (const std::string& line : member_table(*overview, width)) text += line + "\n";
  if (const std::string line = refusals_line(counted); !line.empty()) text += "\n" + line + "\n";
  return console.result(text);
}

}  // namespace

Command status_command() {
  const auto o = std::make_shared<VisitOptions>();
  return {"status", "What runs where, once", visit_arguments(*o, {run_argument(o->run)}),
          [o](const Context& context) {
            return with_visitor("status", *o, context.console, [&](const Visit& visit) {
              return show(visit, *o, context.console);
            });
          }};
}

}  // namespace sterna::launcher
