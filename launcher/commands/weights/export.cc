// sterna export: trained weights, and a run's metrics, for other programs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "actors/weights/export.h"
#include "launcher/commands/command.h"
#include "launcher/commands/weights/which_weights.h"
#include "launcher/record/output_file.h"
#include "launcher/summary/event_file.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// The form of metrics; the others are of weights.
constexpr const char* kTensorBoard = "tensorboard";

struct ExportOptions {
  std::string weights;
  WhichWeights which;
  std::string form;
  std::string into;  ///< empty: beside the weights
};

/// Beside the weights' file or the checkpoint's folder. A run's folder of checkpoints holds those
/// alone: what is made of one of them lies in the run's directory.
fs::path beside(const std::string& weights) {
  fs::path path = weights;
  std::error_code ignored;
  if (path.filename() == "." || path.filename() == "..") path = fs::canonical(path, ignored);
  if (!path.has_filename()) path = path.parent_path();
  if (!fs::is_directory(path, ignored)) return path;
  const fs::path around = fs::absolute(path, ignored).lexically_normal().parent_path();
  if (around.filename() != actors::kCheckpointFolder) return path;
  return (path.parent_path() / "..").lexically_normal() / path.filename();
}

std::string_view ending_of(const ExportOptions& options) {
  for (const actors::WeightsForm& form : actors::weights_forms()) {
    if (form.name == options.form) return form.extension;
  }
  return "";
}

/// Unless the command line says where.
Result<std::string> place_of(const ExportOptions& options, const actors::TrainedWeights& weights) {
  std::string into = options.into;
  if (into.empty()) into = beside(weights.path()).replace_extension(ending_of(options)).string();
  std::error_code ignored;
  if (!fs::equivalent(weights.path(), into, ignored)) {
    return output_file(into, ending_of(options), "--into");
  }
  return Error{Errc::invalid_argument,
               fmt::format("--to {} would write over the weights themselves, {}; say where it goes "
                           "with --into FILE",
                           options.form, into)};
}

/// Where it went.
Result<std::string> export_to_place(const ExportOptions& options, const Console& console) {
  if (options.form == kTensorBoard) {
    return export_events(options.weights, options.into.empty() ? options.weights : options.into);
  }
  STERNA_ASSIGN(const auto weights, options.which.open(options.weights, console));
  STERNA_ASSIGN(std::string into, place_of(options, weights));
  STERNA_ASSIGN(const actors::Exported exported,
                actors::export_weights(weights, options.form, into));
  if (!exported.not_finite.empty()) {
    console.say(fmt::format("{} holds numbers that are not finite, and is exported as it is",
                            printable(exported.not_finite)));
  }
  return into;
}

int export_to(const ExportOptions& options, const Console& console) {
  const Result<std::string> into = export_to_place(options, console);
  if (!into) return console.report(into.error());
  std::error_code ignored;
  const std::uintmax_t bytes = fs::file_size(*into, ignored);
  return console.result(fmt::format("{}: {}\n", printable(*into), bytes_text(bytes)));
}

}  // namespace

Command export_command() {
  const auto o = std::make_shared<ExportOptions>();
  std::vector<std::string> names;
  std::string forms;
  for (const actors::WeightsForm& form : actors::weights_forms()) {
    names.emplace_back(form.name);
    forms += fmt::format("  {:12} {}\n", form.name, form.help);
  }
  names.emplace_back(kTensorBoard);
  forms += fmt::format("  {:12} {}\n", kTensorBoard,
                       "a run's metrics, as a file that TensorBoard shows; --into is its folder");
  return {.name = "export",
          .help = "Write trained weights, or a run's metrics, for other programs",
          .arguments = {{.name = "WEIGHTS",
                         .into = &o->weights,
                         .help = "A run's weights.safetensors, a run's directory, or a checkpoint",
                         .required = true},
                        o->which.averaged_argument(),
                        o->which.raw_argument(),
                        o->which.best_argument(),
                        {.name = "--to",
                         .into = &o->form,
                         .help = "safetensors, npz, onnx or tensorboard",
                         .type = "FORM",
                         .required = true,
                         .choices = names},
                        {.name = "--into",
                         .into = &o->into,
                         .help = "Where it goes; else beside the file, or in the run's directory",
                         .type = "FILE"}},
          .run = [o](const Context& context) { return export_to(*o, context.console); },
          .notes = forms +
                   "\nThe net, its preprocessing and the names of its classes go with it, as "
                   "metadata.\nAn ONNX model takes \"images\" {batch, channels, rows, columns}, "
                   "prepared as\ndocs/preprocessing.md says, and gives \"logits\"; batch norms are "
                   "folded into\nconvolutions.",
          .examples = {"sterna export runs/flowers/weights.safetensors --to onnx",
                       "sterna export runs/flowers --to tensorboard"}};
}

}  // namespace sterna::launcher
