// sterna eval: how good the weights in a file are.
#include <fmt/format.h>

#include <memory>

#include "actors/job/sections.h"
#include "launcher/commands/command.h"
#include "launcher/run/evaluate_file.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/view/confusion_csv.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

struct EvalOptions {
  EvaluateFileOptions file;
  std::string confusion;  ///< the file to write; empty: none
  bool json = false;
};

std::string line_of(const FileEvaluation& result, const std::string& subset) {
  const actors::Evaluation& found = result.evaluation;
  std::string text = fmt::format("precision@1 {:.4f}", found.precision_at_1);
  if (result.classes > actors::kRecalled)
    text += fmt::format(", recall@5 {:.4f}", found.recall_at_5);
  return text + fmt::format(", loss {:.4f} on {} {} examples of {}: {}, {}\n", found.loss,
                            thousands(static_cast<std::int64_t>(found.examples)), subset,
                            result.data, result.net, result.weights);
}

std::string json_of(const FileEvaluation& result, const std::string& subset) {
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
                    {"precision_at_1", found.precision_at_1},
                    {"recall_at_5", many ? Json(found.recall_at_5) : Json(nullptr)},
                    {"loss", found.loss}}) +
         "\n";
}

int eval(const EvalOptions& options, const Console& console) {
  const Result<FileEvaluation> result = evaluate_file(options.file, console);
  if (!result) return console.report(result.error());
  if (!options.confusion.empty()) {
    if (result->evaluation.confusion.empty()) {
      return console.report({Errc::invalid_argument,
                             fmt::format("--confusion is for nets of at most {} classes; this one "
                                         "has {}",
                                         actors::kMostConfusedClasses, result->classes)});
    }
    const Result<void> written = write_atomically(
        options.confusion, to_csv({result->classes, result->evaluation.confusion}));
    if (!written) return console.report(written.error());
  }
  const std::string& subset = options.file.subset;
  return console.result(options.json ? json_of(*result, subset) : line_of(*result, subset));
}

}  // namespace

Command eval_command() {
  const auto o = std::make_shared<EvalOptions>();
  return {.name = "eval",
          .help = "How good the weights in a file are: precision@1, recall@5 and loss",
          .arguments = {{.name = "--weights",
                         .into = &o->file.weights,
                         .help = "The safetensors file, or the run directory that has one",
                         .type = "FILE",
                         .required = true},
                        {.name = "--config",
                         .into = &o->file.config,
                         .help = "The cluster file of its net and data; default: resolved.toml "
                                 "beside the weights, else what they say of themselves",
                         .type = "FILE"},
                        {"--data", &o->file.data, "The folder of the data set", "DIR"},
                        {.name = "--subset",
                         .into = &o->file.subset,
                         .help = "Of which examples; training examples as they are stored",
                         .shows_default = true,
                         .choices = {actors::kTestSubset, actors::kTrainSubset}},
                        {.name = "--examples",
                         .into = &o->file.examples,
                         .help = "Of at most so many, spread over all; default: as at the end of a "
                                 "run, all test examples",
                         .type = "N",
                         .range = {{1, 1'000'000'000}}},
                        {"--confusion", &o->confusion,
                         "Write how often which class was taken for which", "FILE.csv"},
                        {"--json", &o->json, "Print it as one line of JSON"}},
          .run = [o](const Context& context) { return eval(*o, context.console); },
          .examples =
              "\nExamples:\n"
              "  sterna eval --weights runs/lenet_mnist-20260102T030405Z\n"
              "  sterna eval --weights RUN/weights.safetensors --subset train --json"};
}

}  // namespace sterna::launcher
