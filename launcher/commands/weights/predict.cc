// sterna predict: what trained weights take pictures for.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/weights/model.h"
#include "input/pictures/decode.h"
#include "launcher/commands/command.h"
#include "launcher/commands/device_option.h"
#include "launcher/commands/weights/which_weights.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t kNamesTold = 5;
constexpr std::size_t kMostPictureBytes = std::size_t{256} << 20;

struct PredictOptions {
  std::string weights;
  WhichWeights which;
  DeviceOption device;
  std::vector<std::string> pictures;
  bool all = false;
  bool json = false;
};

/// A file that is asked for.
struct Asked {
  std::string path;
  bool in_folder = false;  ///< of which all pictures were: other files are passed over
};

/// Folders give their files, at any depth, by name; hidden ones are not looked at.
Result<void> add_asked(std::vector<Asked>& asked, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    asked.push_back({path});
    return {};
  }
  std::vector<std::string> files;
  fs::recursive_directory_iterator one(path, failed);
  for (; !failed && one != fs::recursive_directory_iterator(); one.increment(failed)) {
    std::error_code ignored;
    const bool hidden = one->path().filename().string().starts_with('.');
    if (hidden) one.disable_recursion_pending();
    if (!hidden && one->is_regular_file(ignored)) files.push_back(one->path().string());
  }
  if (failed) return system_error(path, failed.value());
  std::sort(files.begin(), files.end());
  for (std::string& file : files) asked.push_back({std::move(file), true});
  return {};
}

/// "picture is 280 x 280, the net sees its middle 28 x 28", of a picture that is not resized.
std::optional<std::string> what_is_seen(const actors::Model& model,
                                        const input::PictureShape& picture) {
  const input::Preparation how = model.note().preparation();
  const input::PictureShape& seen = how.options.shape;
  if (!how.family->takes_middle) return std::nullopt;
  if (picture.rows == seen.rows && picture.columns == seen.columns) return std::nullopt;
  const bool smaller = picture.rows <= seen.rows && picture.columns <= seen.columns;
  return fmt::format("picture is {} x {}, the net sees {} {} x {}{}", picture.rows, picture.columns,
                     smaller ? "it amid zeros, as" : "its middle", seen.rows, seen.columns,
                     smaller ? "" : "; make it as large if it shows one thing");
}

/// None of a file in a folder that is no picture. Says of the first picture, of which a net sees
/// not all, what it sees: `told` is whether that has been said.
Result<std::optional<std::vector<float>>> predict(actors::Model& model, const Asked& asked,
                                                  const Console& console, bool& told) {
  const std::string& path = asked.path;
  STERNA_ASSIGN(const std::string bytes, read_file(path, kMostPictureBytes));
  input::EncodedPicture picture;
  picture.bytes = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  const auto coding = input::coding_of(picture.bytes);
  if (!coding && asked.in_folder) return std::optional<std::vector<float>>();
  if (!coding) return Error(coding.error()).in(path);
  picture.coding = *coding;
  // All of it, not only what a net sees: of a damaged one nothing is said.
  const auto whole = input::decode(picture, {});
  if (!whole) return Error(whole.error()).in(path);
  const auto seen = told ? std::nullopt : what_is_seen(model, whole->shape);
  if (seen) console.say(fmt::format("{}: {}", printable(path), *seen));
  told = told || seen.has_value();
  STERNA_ASSIGN(std::vector<float> logits, model.logits(picture).in(path));
  return std::optional(std::move(logits));
}

Result<actors::Model> load(const PredictOptions& options, const Console& console) {
  STERNA_ASSIGN(auto device, options.device.open());
  STERNA_ASSIGN(const auto weights, options.which.open(options.weights, console));
  return actors::Model::load(weights, std::move(device));
}

int predict(const PredictOptions& options, const Console& console) {
  Result<actors::Model> model = load(options, console);
  if (!model) return console.report(model.error());
  const actors::ModelNote& note = model->note();
  std::vector<Asked> all;
  for (const std::string& path : options.pictures) {
    const Result<void> added = add_asked(all, path);
    if (!added) return console.report(added.error());
  }
  int exit = kExitDone;
  std::size_t passed_over = 0;
  bool told_what_is_seen = false;
  Json pictures = Json::array();
  for (const Asked& asked : all) {
    const std::string& path = asked.path;
    const Result<std::optional<std::vector<float>>> answer =
        predict(*model, asked, console, told_what_is_seen);
    if (answer && !answer->has_value()) {
      ++passed_over;
      continue;
    }
    const Result<std::vector<float>> logits =
        answer ? Result<std::vector<float>>(**answer) : answer.error();
    if (!logits) {
      console.say(printable(logits.error().message));
      pictures.push_back({{"picture", path}, {"error", logits.error().message}});
      exit = kExitBadInput;
      continue;
    }
    Json top = Json::array();
    std::string text = printable(path) + "\n";
    const std::vector<double> probabilities = actors::softmax(*logits);
    const std::size_t told = options.all ? logits->size() : kNamesTold;
    for (const std::uint32_t label : actors::likeliest(*logits, told)) {
      text += fmt::format("  {:6.2f} %  {}\n", 100 * probabilities[label], note.name_of(label));
      top.push_back({{"label", label},
                     {"name", note.name_of(label)},
                     {"probability", probabilities[label]},
                     {"logit", (*logits)[label]}});
    }
    if (options.json) {
      pictures.push_back({{"picture", path}, {"top", top}});
    } else if (const Printed printed = console.print_result(text); printed != Printed::written) {
      return printed == Printed::failed ? kExitFailed : exit;
    }
  }
  if (passed_over > 0) {
    console.say(fmt::format("files that are neither JPEG nor PNG, and left out: {}", passed_over));
  }
  if (passed_over == all.size()) {
    return console.report(
        {Errc::not_found, "there is no picture in " + printable(options.pictures.front())});
  }
  if (!options.json) return exit;
  const int told = console.result(json_line({{"format", 1},
                                             {"weights", options.weights},
                                             {"net", note.job.net},
                                             {"steps", note.steps},
                                             {"pictures", pictures}}) +
                                  "\n");
  return told != kExitDone ? told : exit;
}

}  // namespace

Command predict_command() {
  const auto o = std::make_shared<PredictOptions>();
  return {.name = "predict",
          .help = "What trained weights take pictures for: the five likeliest classes of each",
          .arguments = {{.name = "--weights",
                         .into = &o->weights,
                         .help = "A run's weights.safetensors, a run's directory, or a checkpoint",
                         .type = "FILE",
                         .required = true},
                        o->which.averaged_argument(),
                        o->which.raw_argument(),
                        o->which.best_argument(),
                        {.name = "PICTURE",
                         .into = &o->pictures,
                         .help = "JPEG or PNG files, or folders: all that are in them",
                         .required = true},
                        {"--all", &o->all, "Tell all classes, not five"},
                        o->device.argument(),
                        {"--json", &o->json, "Print it as one line of JSON"}},
          .run = [o](const Context& context) { return predict(*o, context.console); },
          .notes =
              "Pictures are prepared as in the evaluation of the run that left the weights.\n"
              "One that cannot be read is said on a line of its own, the others are\n"
              "answered, and the exit code is 2.",
          .examples = {"sterna predict --weights runs/flowers/weights.safetensors rose.jpg",
                       "sterna predict --weights runs/flowers --json pictures/",
                       "sterna predict --weights runs/flowers --raw rose.jpg"}};
}

}  // namespace sterna::launcher
