// sterna report: runs as one HTML file.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "launcher/commands/command.h"
#include "launcher/plots/drawer.h"
#include "launcher/record/output_file.h"
#include "launcher/report/report.h"
#include "launcher/text/text_format.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out = "report.html";
};

Result<void> write_report(const ReportOptions& options, const Console& console) {
  STERNA_ASSIGN(const std::string file, output_file(options.out, ".html", "--out"));
  STERNA_ASSIGN(const Report report,
                read_report(options.runs, program_folder(),
                            [&](const std::string& why) { console.say("left out: " + why); }));
  return write_atomically(file, to_html(report));
}

}  // namespace

Command report_command() {
  const auto options = std::make_shared<ReportOptions>();
  return {.name = "report",
          .help = "Runs as one HTML file: curves, tensors, where the time went, what was lost",
          .arguments = {{.name = "RUN",
                         .into = &options->runs,
                         .help = "Run directories; those that differ by their seed alone make one "
                                 "curve as far as any of them goes: the mean of those that have "
                                 "come so far",
                         .required = true},
                        {.name = "-o,--out",
                         .into = &options->out,
                         .help = "Where it goes",
                         .type = "FILE",
                         .shows_default = true}},
          .run =
              [options](const Context& context) {
                const Result<void> written = write_report(*options, context.console);
                return written ? context.console.result(printable(options->out) + "\n")
                               : context.console.report(written.error());
              },
          .examples = {"sterna report runs/fp32* runs/ternary* -o ternary.html"}};
}

}  // namespace sterna::launcher
