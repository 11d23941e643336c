// sterna net list|show: the nets there are, and what one is made of, without making it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "launcher/commands/command.h"
#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"
#include "nets/describe_net.h"

namespace sterna::launcher {
namespace {

using Json = nlohmann::ordered_json;

struct NetOptions {
  std::string name;
  std::uint64_t size = 0;  ///< rows and columns of the images; 0: the original's
  std::uint64_t channels = 0;
  std::uint64_t classes = 0;
  std::uint64_t batch = 1;
  bool json = false;
};

constexpr double kMegabyte = 1e6;

/// With the images that the original takes, unless the options say otherwise.
nets::NetOptions net_of(const nets::ZooNet& net, const NetOptions& options) {
  nets::ImageClasses images = net.usual;
  if (options.size > 0) images.rows = images.columns = options.size;
  if (options.channels > 0) images.channels = options.channels;
  if (options.classes > 0) images.classes = options.classes;
  return {.name = net.name,
          .images = images,
          .hidden = {net.hidden.begin(), net.hidden.end()},
          .batch = options.batch};
}

std::string number(std::uint64_t value) { return thousands(static_cast<std::int64_t>(value)); }

std::string images_of(const nets::ImageClasses& images) {
  return fmt::format("{} x {} x {}", images.rows, images.columns, images.channels);
}

Json json_of(const nets::NetOptions& net, const nets::NetDescription& what) {
  Json json = {{"name", net.name},
               {"rows", net.images.rows},
               {"columns", net.images.columns},
               {"channels", net.images.channels},
               {"classes", net.images.classes},
               {"batch", net.batch},
               {"parameters", what.trained_elements()},
               {"flops", what.flops},
               {"activation_bytes", what.activations.bytes},
               {"training_bytes", what.training_bytes()},
               {"tensors", Json::array()}};
  for (const nets::ParameterSpec& spec : what.parameters) {
    json["tensors"].push_back(
        {{"name", spec.name}, {"shape", spec.shape}, {"role", nets::name(spec.role)}});
  }
  return json;
}

int list(const NetOptions& options, const Console& console) {
  std::vector<std::vector<std::string>> rows;
  Json nets = Json::array();
  for (const std::string_view name : nets::trainable_names()) {
    const nets::NetOptions net = net_of(*nets::find_net(name), {});
    const Result<nets::NetDescription> what = nets::describe_net(net);
    if (!what) return console.report(what.error());
    nets.push_back(json_of(net, *what));
    rows.push_back({net.name, images_of(net.images), number(net.images.classes),
                    number(what->trained_elements()), number(what->flops / 1'000'000),
                    number(nets::find_net(name)->smallest)});
  }
  if (options.json) return console.result(Json{{"format", 1}, {"nets", nets}}.dump() + "\n");
  return console.result(fmt::format("{}\n", fmt::join(text_table({{"NET"},
                                                                  {"IMAGES"},
                                                                  {"CLASSES", true},
                                                                  {"PARAMETERS", true},
                                                                  {"MFLOP AN IMAGE", true},
                                                                  {"SMALLEST", true}},
                                                                 rows),
                                                      "\n")));
}

int show(const NetOptions& options, const Console& console) {
  const nets::ZooNet* found = nets::find_net(options.name);
  const Result<nets::NetDescription> what =
      found != nullptr ? nets::describe_net(net_of(*found, options))
                       : nets::describe_net({.name = options.name, .batch = 1});
  if (!what) return console.report(what.error());
  const nets::NetOptions net = net_of(*found, options);
  if (options.json) return console.result(json_of(net, *what).dump() + "\n");
  std::string text = fmt::format(
      "{} for images of {} and {} classes: {} parameters, {} Mflop an image\n"
      "a batch of {} trains in {:.1f} MB, {:.1f} of them activations\n\n",
      net.name, images_of(net.images), net.images.classes, number(what->trained_elements()),
      number(what->flops / 1'000'000), net.batch,
      static_cast<double>(what->training_bytes()) / kMegabyte,
      static_cast<double>(what->activations.bytes) / kMegabyte);
  std::vector<std::vector<std::string>> rows;
  for (const nets::ParameterSpec& spec : what->parameters) {
    rows.push_back({spec.name, fmt::format("{}", fmt::join(spec.shape, " x ")),
                    number(spec.count()), nets::name(spec.role)});
  }
  text += fmt::format(
      "{}\n",
      fmt::join(text_table({{"TENSOR"}, {"SHAPE"}, {"ELEMENTS", true}, {"ROLE"}}, rows), "\n"));
  return console.result(text);
}

}  // namespace

Command net_command() {
  const auto o = std::make_shared<NetOptions>();
  const Argument json{"--json", &o->json, "Print it as one line of JSON"};
  return {.name = "net",
          .help = "The nets there are",
          .parts = {{.name = "list",
                     .help = "Each with its parameters, for the images that the original takes",
                     .arguments = {json},
                     .run = [o](const Context& context) { return list(*o, context.console); }},
                    {.name = "show",
                     .help = "What one is made of, and what a batch of it takes",
                     .arguments = {{.name = "NET",
                                    .into = &o->name,
                                    .help = "Its name, e.g. resnet_20",
                                    .required = true},
                                   {.name = "--size",
                                    .into = &o->size,
                                    .help = "Rows and columns of the images",
                                    .type = "N",
                                    .range = {{1, 4096}}},
                                   {.name = "--channels",
                                    .into = &o->channels,
                                    .help = "Of the images",
                                    .type = "N",
                                    .range = {{1, 4}}},
                                   {.name = "--classes",
                                    .into = &o->classes,
                                    .help = "Of the labels",
                                    .type = "N",
                                    .range = {{1, 65536}}},
                                   {.name = "--batch",
                                    .into = &o->batch,
                                    .help = "Images a step",
                                    .type = "N",
                                    .range = {{1, 65536}}},
                                   json},
                     .run = [o](const Context& context) { return show(*o, context.console); }}}};
}

}  // namespace sterna::launcher
