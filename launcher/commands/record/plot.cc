// sterna plot: runs' metrics as a picture.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "launcher/commands/command.h"
#include "launcher/plots/drawer.h"
#include "launcher/plots/run_curves.h"
#include "launcher/record/output_file.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

struct PlotOptions {
  std::vector<std::string> runs;
  PlotQuantities what;
  std::string out;
  bool log = false;
};

/// How far a curve came: what was measured on all examples at the end is no point of it.
std::string summary(const PlotCurve& curve, const PlotQuantities& what) {
  std::string said =
      fmt::format("{}: {}, the last {:.6g} at {}", curve.label, counted(curve.x.size(), "point"),
                  curve.mean.back(), x_text(what, curve.x.back()));
  if (curve.marks.empty()) return said;
  const PlotMark& last = curve.marks.back();
  return said + fmt::format(" (on {} examples), then {:.6g} at {} (on {})",
                            thousands(curve.examples), last.mean, x_text(what, last.x),
                            thousands(last.examples));
}

Result<std::string> plot(const PlotOptions& options, const Console& console) {
  const std::string ending = std::filesystem::path(options.out).extension().string();
  STERNA_ASSIGN(const std::string file, output_file(options.out, ending, "--out"));
  LeftOut left_out;
  if (options.runs.size() > 1) {
    left_out = [&](const std::string& why) { console.say("left out: " + why); };
  }
  const std::vector<std::string> runs =
      left_out ? runs_among(options.runs, left_out) : options.runs;
  STERNA_ASSIGN(Plot plot, plot_of_runs(runs, options.what, left_out));
  plot.log_x = options.log;
  STERNA_TRY(draw(plot, file));
  for (const std::string& word : plot.words) console.say(word);
  std::string said;
  for (const PlotCurve& curve : plot.curves) said += summary(curve, options.what) + "\n";
  return said + options.out + "\n";
}

}  // namespace

Command plot_command() {
  const auto options = std::make_shared<PlotOptions>();
  return {.name = "plot",
          .help = "A picture of what runs came to",
          .arguments = {{.name = "RUN",
                         .into = &options->runs,
                         .help = "Run directories; those that differ by their seed alone make one "
                                 "curve as far as any of them goes: the mean of those that have "
                                 "come so far, with a band from the lowest to the highest",
                         .required = true},
                        {.name = "--x",
                         .into = &options->what.x,
                         .help = "What goes to the right: bytes are all that workers sent and got, "
                                 "pictures, too, coded_bytes gradients and parameters alone, "
                                 "seconds, of an evaluation too, those when its step was done",
                         .shows_default = true,
                         .choices = plot_xs()},
                        {.name = "--y",
                         .into = &options->what.y,
                         .help = "What goes up",
                         .shows_default = true,
                         .choices = plot_ys()},
                        {.name = "--subset",
                         .into = &options->what.subset,
                         .help = "Of which examples, where it was evaluated",
                         .shows_default = true,
                         .choices = {"test", "train"}},
                        {.name = "--of",
                         .into = &options->what.of,
                         .help = "Of what, likewise; run: of moving averages where a run has such, "
                                 "else of parameters",
                         .shows_default = true,
                         .choices = {kOfEither, "parameters", "averages"}},
                        {.name = "--log",
                         .into = &options->log,
                         .help = "What goes to the right is drawn by its logarithm"},
                        {.name = "-o,--out",
                         .into = &options->out,
                         .help = "The picture, an .svg or a .png, or its curves' numbers, a .csv",
                         .type = "FILE",
                         .required = true}},
          .run =
              [options](const Context& context) {
                const Result<std::string> said = plot(*options, context.console);
                return said ? context.console.result(*said) : context.console.report(said.error());
              },
          .examples = {"sterna plot runs/fp32* runs/ternary* --x bytes --log -o accuracy.svg",
                       "sterna plot runs/* --y loss -o losses.csv"}};
}

}  // namespace sterna::launcher
