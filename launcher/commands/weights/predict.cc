// sterna predict: what trained weights take pictures for.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/weights/model.h"
#include "input/pictures/decode.h"
#include "launcher/commands/command.h"
#include "launcher/commands/device_option.h"
#include "launcher/commands/weights/say_passed_over.h"
#include "launcher/commands/weights/which_values.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t kNamesTold = 5;
constexpr std::size_t kMostPictureBytes = std::size_t{256} << 20;

struct PredictOptions {
  std::string weights;
  WhichValues which;
  DeviceOption device;
  std::vector<std::string> pictures;
  bool all = false;
  bool json = false;
};

Result<std::vector<float>> predict(actors::Model& model, const std::string& path) {
  STERNA_ASSIGN(const std::string bytes, read_file(path, kMostPictureBytes));
  input::EncodedPicture picture;
  picture.bytes = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  STERNA_ASSIGN(picture.coding, input::coding_of(picture.bytes).in(path));
  // All of it, not only what a net sees: of a damaged one nothing is said.
  if (const auto whole = input::decode(picture, {}); !whole) {
    return Error(whole.error()).in(path);
  }
  return model.logits(picture).in(path);
}

Result<actors::Model> load(const PredictOptions& options, const Console& console) {
  STERNA_ASSIGN(const actors::ValuesOf which, options.which.values());
  STERNA_ASSIGN(auto device, options.device.open());
  STERNA_ASSIGN(const auto weights, actors::TrainedWeights::open(options.weights, which));
  say_passed_over(weights, console);
  return actors::Model::load(weights, std::move(device));
}

int predict(const PredictOptions& options, const Console& console) {
  Result<actors::Model> model = load(options, console);
  if (!model) return console.report(model.error());
  const actors::ModelNote& note = model->note();
  int exit = kExitDone;
  std::string text;
  Json pictures = Json::array();
  for (const std::string& path : options.pictures) {
    const Result<std::vector<float>> logits = predict(*model, path);
    if (!logits) {
      console.say(printable(logits.error().message));
      pictures.push_back({{"picture", path}, {"error", logits.error().message}});
      exit = kExitBadInput;
      continue;
    }
    Json top = Json::array();
    text += printable(path) + "\n";
    const std::vector<double> probabilities = actors::softmax(*logits);
    const std::size_t told = options.all ? logits->size() : kNamesTold;
    for (const std::uint32_t label : actors::likeliest(*logits, told)) {
      text += fmt::format("  {:6.2f} %  {}\n", 100 * probabilities[label], note.name_of(label));
      top.push_back({{"label", label},
                     {"name", note.name_of(label)},
                     {"probability", probabilities[label]},
                     {"logit", (*logits)[label]}});
    }
    pictures.push_back({{"picture", path}, {"top", top}});
  }
  if (options.json) {
    text = json_line({{"format", 1},
                      {"weights", options.weights},
                      {"net", note.job.net},
                      {"steps", note.steps},
                      {"pictures", pictures}}) +
           "\n";
  }
  const int told = console.result(text);
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
                        {.name = "PICTURE",
                         .into = &o->pictures,
                         .help = "JPEG or PNG files",
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
                       "sterna predict --weights runs/flowers --raw rose.jpg"}};
}

}  // namespace sterna::launcher
