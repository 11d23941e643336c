// sterna eval: how good weights are, after a run or beside it.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "actors/checkpoint/saved.h"
#include "actors/job/sections.h"
#include "launcher/commands/command.h"
#include "launcher/commands/device_option.h"
#include "launcher/commands/weights/evaluate_weights.h"
#include "launcher/commands/weights/follow_checkpoints.h"
#include "launcher/commands/weights/say_passed_over.h"
#include "launcher/commands/weights/which_weights.h"
#include "launcher/record/output_file.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/view/confusion_csv.h"
#include "runtime/base/file.h"
#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {
namespace {

using actors::TrainedWeights;
using actors::ValuesOf;

struct EvalOptions {
  std::string weights;
  std::string checkpoint;
  WhichWeights which;
  EvaluateOptions how;
  DeviceOption device;
  std::string confusion;  ///< the file to write; empty: none
  bool follow = false;
  bool json = false;
};

std::string line_of(const WeightsEvaluation& result, const std::string& subset) {
  const actors::Evaluation& found = result.evaluation;
  std::string text = fmt::format("precision@1 {:.4f}", found.precision_at_1);
  if (result.classes > actors::kRecalled)
    text += fmt::format(", recall@5 {:.4f}", found.recall_at_5);
  text += fmt::format(", loss {:.4f} on {} {} examples of {}: {}", found.loss,
                      thousands(static_cast<std::int64_t>(found.examples)), subset, result.data,
                      result.net);
  if (result.averages) text += ", averages";
  if (result.steps) {
    text += fmt::format(", step {}", thousands(static_cast<std::int64_t>(*result.steps)));
  }
  return text + ", " + printable(result.weights) + "\n";
}

/// What of the examples says nothing of the weights.
void say_left_out(const actors::Evaluation& found, const std::string& subset,
                  const Console& console) {
  if (found.left_out == 0) return;
  console.say(fmt::format("{} of {} {} examples {} damaged and left out, such as {}",
                          thousands(static_cast<std::int64_t>(found.left_out)),
                          thousands(static_cast<std::int64_t>(found.examples + found.left_out)),
                          subset, found.left_out == 1 ? "is" : "are", printable(found.damage)));
}

void say_not_finite(const actors::Evaluation& found, const std::string& subset,
                    const Console& console) {
  if (std::isfinite(found.loss)) return;
  console.say(
      fmt::format("the loss is not finite: of some {} examples these weights give logits "
                  "that are NaN or infinite, which count as no answer",
                  subset));
}

std::string json_of(const WeightsEvaluation& result, const std::string& subset) {
  const actors::Evaluation& found = result.evaluation;
  const bool many = result.classes > actors::kRecalled;
  return json_line({{"format", 1},
                    {"weights", result.weights},
                    {"steps", result.steps ? Json(*result.steps) : Json(nullptr)},
                    {"of", result.averages ? "averages" : "parameters"},
                    {"net", result.net},
                    {"data", result.data},
                    {"subset", subset},
                    {"examples", found.examples},
                    {"left_out_examples", found.left_out},
                    {"precision_at_1", found.precision_at_1},
                    {"recall_at_5", many ? Json(found.recall_at_5) : Json(nullptr)},
                    {"loss", found.loss}}) +
         "\n";
}

Result<void> write_confusion(const std::string& path, const WeightsEvaluation& result) {
  if (path.empty()) return {};
  if (result.evaluation.confusion.empty()) {
    return Error{Errc::invalid_argument,
                 fmt::format("--confusion is for nets of at most {} classes; this one has {}",
                             actors::kMostConfusedClasses, result.classes)};
  }
  return write_atomically(path,
                          to_csv({result.classes, result.evaluation.confusion}, result.names));
}

/// Evaluates and tells. Errors: also of a full disk behind standard output.
Result<WeightsEvaluation> tell(const TrainedWeights& weights, const EvalOptions& options,
                               const Console& console) {
  STERNA_ASSIGN(WeightsEvaluation result, evaluate_weights(weights, options.how, console));
  STERNA_TRY(write_confusion(options.confusion, result));
  const std::string& subset = options.how.subset;
  const std::string text = options.json ? json_of(result, subset) : line_of(result, subset);
  if (console.print_result(text) == Printed::failed) {
    return Error{Errc::io, "the result went nowhere"};
  }
  say_not_finite(result.evaluation, subset, console);
  return result;
}

/// Evaluates, tells, and says what was left out of it.
Result<WeightsEvaluation> tell_all(const TrainedWeights& weights, const EvalOptions& options,
                                   const Console& console) {
  STERNA_ASSIGN(WeightsEvaluation result, tell(weights, options, console));
  say_left_out(result.evaluation, options.how.subset, console);
  return result;
}

/// The values asked for; else the parameters, and then the averages where it keeps any, which leave
/// out the same examples. Whether others will follow.
Result<bool> tell_checkpoint(const actors::SavedCheckpoint& saved, const EvalOptions& options,
                             const Console& console) {
  STERNA_ASSIGN(const ValuesOf which, options.which.values());
  const bool both = which == ValuesOf::preferred;
  STERNA_ASSIGN(const TrainedWeights first,
                TrainedWeights::open(saved, both ? ValuesOf::parameters : which));
  STERNA_ASSIGN(const TrainedWeights second, TrainedWeights::open(saved, which));
  STERNA_ASSIGN(const WeightsEvaluation told, tell_all(first, options, console));
  if (both && second.averages()) STERNA_TRY(tell(second, options, console));
  return saved.manifest.step < told.last_step;
}

Result<actors::SavedCheckpoint> chosen_checkpoint(const EvalOptions& options,
                                                  const Console& console) {
  const std::string& path = options.checkpoint;
  if (options.which.best) return actors::open_best_checkpoint(path);
  STERNA_ASSIGN(actors::SavedCheckpoint saved, actors::open_checkpoint(path));
  if (saved.folder != path) {
    say_passed_over(actors::damaged_after(saved), saved.manifest.step, console);
  }
  return saved;
}

Result<void> eval_checkpoint(const EvalOptions& options, const Console& console) {
  if (options.follow) {
    UvLoop loop;
    return follow_checkpoints(options.checkpoint, loop, console,
                              [&](const actors::SavedCheckpoint& saved) {
                                return tell_checkpoint(saved, options, console);
                              });
  }
  STERNA_ASSIGN(const actors::SavedCheckpoint saved, chosen_checkpoint(options, console));
  STERNA_TRY(tell_checkpoint(saved, options, console));
  return {};
}

Result<void> eval_weights(const std::string& path, const EvalOptions& options,
                          const Console& console) {
  STERNA_ASSIGN(const TrainedWeights weights, options.which.open(path, console));
  STERNA_TRY(tell_all(weights, options, console));
  return {};
}

int eval(EvalOptions& options, const Console& console) {
  if (options.weights.empty() == options.checkpoint.empty()) {
    return console.report({Errc::invalid_argument, "give either --weights or --checkpoint"});
  }
  if (options.follow && (options.checkpoint.empty() || options.which.best)) {
    return console.report({Errc::invalid_argument, "--follow goes with --checkpoint, not --best"});
  }
  const Result<std::string> confusion = output_file(options.confusion, ".csv", "--confusion");
  if (!confusion) return console.report(confusion.error());
  options.confusion = *confusion;
  auto device = options.device.open();
  if (!device) return console.report(device.error());
  options.how.device = std::move(*device);
  std::error_code ignored;
  const bool file =
      !options.follow && std::filesystem::is_regular_file(options.checkpoint, ignored);
  const std::string& weights = file ? options.checkpoint : options.weights;
  const Result<void> done =
      weights.empty() ? eval_checkpoint(options, console) : eval_weights(weights, options, console);
  return done ? kExitDone : console.report(done.error());
}

}  // namespace

Command eval_command() {
  const auto o = std::make_shared<EvalOptions>();
  return {
      .name = "eval",
      .help = "How good weights are: precision@1, recall@5 and loss",
      .arguments = {{.name = "--weights",
                     .into = &o->weights,
                     .help = "A safetensors file, a run's directory, or a checkpoint",
                     .type = "FILE"},
                    {.name = "--checkpoint",
                     .into = &o->checkpoint,
                     .help = "A checkpoint, or the run's directory of which the newest is taken; "
                             "both parameters and averages, where it keeps any",
                     .type = "DIR"},
                    {"--follow", &o->follow,
                     "Every checkpoint of the run, also those that come, until its end"},
                    o->which.averaged_argument(),
                    o->which.raw_argument(),
                    o->which.best_argument(),
                    {.name = "--config",
                     .into = &o->how.config,
                     .help = "The cluster file of its net and data; default: the checkpoint's, "
                             "resolved.toml beside the weights, or what they say of themselves",
                     .type = "FILE"},
                    {"--data", &o->how.data, "The folder of the data set", "DIR"},
                    {.name = "--subset",
                     .into = &o->how.subset,
                     .help = "Of which examples; training examples as they are stored",
                     .shows_default = true,
                     .choices = {actors::kTestSubset, actors::kTrainSubset}},
                    {.name = "--examples",
                     .into = &o->how.examples,
                     .help = "Of at most so many, spread over all; default: as at the end of a "
                             "run, all test examples",
                     .type = "N",
                     .range = {{1, 1'000'000'000}}},
                    {"--confusion", &o->confusion,
                     "Write how often which class was taken for which, as of the last line printed",
                     "FILE.csv"},
                    o->device.argument(),
                    {"--json", &o->json, "Print it as one line of JSON"}},
      .run = [o](const Context& context) { return eval(*o, context.console); },
      .examples = {"sterna eval --weights runs/lenet_mnist-20260102T030405Z",
                   "sterna eval --weights RUN/weights.safetensors --subset train --json",
                   "sterna eval --checkpoint RUN --follow",
                   "sterna eval --weights RUN --device cuda:1"}};
}

}  // namespace sterna::launcher
