// sterna bench actors|codec|exchange|input|net|train: what the runtime, the codec, the exchange of
// gradients, the preparing of pictures, a net and a training step cost, as figures of one run.
#include <fmt/format.h>

#include <memory>

#include "launcher/bench/actors/asks.h"
#include "launcher/bench/codec/codec.h"
#include "launcher/bench/codec/device/device_codec.h"
#include "launcher/bench/exchange/exchange.h"
#include "launcher/bench/figures.h"
#include "launcher/bench/input.h"
#include "launcher/bench/net.h"
#include "launcher/bench/ranks.h"
#include "launcher/bench/train.h"
#include "launcher/commands/command.h"
#include "launcher/commands/device_option.h"
#include "launcher/text/json_line.h"
#include "launcher/text/progress_line.h"

namespace sterna::launcher {
namespace {

struct BenchOptions {
  bool json = false;
  std::string only;                ///< the parts whose name begins so; empty: all
  std::string elements = "25.6M";  ///< of "codec" and "exchange"
  std::string pictures;            ///< of "input": a folder; empty: as found
  std::int64_t input_rounds = 11;
  std::string net;             ///< of "net": empty: the usual ones
  std::int64_t net_batch = 0;  ///< 0: its usual one
  std::int64_t net_rounds = 7;
  std::int64_t net_threads = 1;
  DeviceOption device;
  std::string train_net;  ///< of "train": empty: lenet, with one rank
  // The rest is of "exchange".
  std::string link;          ///< "1gbit" between emulated hosts; empty: all on this machine
  std::int64_t ranks = 2;    ///< ... one host for each
  std::int64_t servers = 0;  ///< 0: as many as ranks
  std::string security;      ///< "none" or "curve"; empty: what is worth comparing
  std::int64_t steps = 24;
  std::int64_t rounds = 3;
  std::string gloo;  ///< a script that measures gloo beside it; empty: none
};

BenchProgress progress_to(const Console& console) {
  return [console](std::string_view what) { console.say(fmt::format("measuring {}", what)); };
}

Result<Figures> measure_train(const BenchOptions& options, const Context& context) {
  STERNA_ASSIGN(const std::shared_ptr<kernels::Device> device, options.device.open());
  if (options.train_net.empty()) {
    return bench_train(context.registry, device, progress_to(context.console));
  }
  return bench_ranks(context.registry, {.net = options.train_net, .device = device},
                     progress_to(context.console));
}

Result<Figures> measure_codec(const BenchOptions& options, const Context& context) {
  CodecBenchSetup setup;
  STERNA_ASSIGN(setup.elements, parse_elements(options.elements));
  STERNA_ASSIGN(const std::shared_ptr<kernels::Device> device, options.device.open());
  if (device != nullptr) {
    return bench_device_codec(*device, {.elements = setup.elements}, options.only,
                              progress_to(context.console));
  }
  return bench_codec(setup, options.only, progress_to(context.console));
}

Result<Figures> measure_input(const BenchOptions& options, const Context& context) {
  InputBenchSetup setup;
  if (!options.pictures.empty()) setup.pictures = options.pictures;
  setup.rounds = static_cast<int>(options.input_rounds);
  return bench_input(setup, progress_to(context.console));
}

Result<Figures> measure_net(const BenchOptions& options, const Context& context) {
  STERNA_ASSIGN(const std::shared_ptr<kernels::Device> device, options.device.open());
  const NetBenchSetup setup{.net = options.net,
                            .batch = static_cast<std::size_t>(options.net_batch),
                            .rounds = static_cast<int>(options.net_rounds),
                            .threads = static_cast<int>(options.net_threads),
                            .device = device};
  return bench_net(setup, progress_to(context.console));
}

Result<Figures> measure_actors(const BenchOptions& options, const Context& context) {
  const BenchParts wanted = [&](std::string_view part) {
    const bool is = part.starts_with(options.only);
    if (is) progress_to(context.console)(part);
    return is;
  };
  STERNA_ASSIGN(Figures figures, bench_in_process(wanted));
  STERNA_ASSIGN(const Figures between, bench_between_processes(context.registry, wanted));
  figures.insert(between.begin(), between.end());
  if (figures.empty()) {
    return Error{Errc::invalid_argument,
                 "no part of this benchmark begins with '" + options.only +
                     "': in_process, light_actors, ipc.sync, ipc.async, ipc.n_n_sync, "
                     "ipc.n_n_async, and the same with curve"};
  }
  return figures;
}

int print_json(const std::string& name, const Figures& figures, const Console& console) {
  nlohmann::json json = {{"format", 1}, {"bench", name}};
  for (const auto& [figure, value] : figures) json[figure] = value;
  return console.result(json_line(json) + "\n");
}

Result<ExchangeReport> measure_exchange(const BenchOptions& options, const Registry& registry) {
  ExchangeBenchSetup setup;
  STERNA_ASSIGN(setup.shape.elements, parse_elements(options.elements));
  if (!options.link.empty()) {
    STERNA_ASSIGN(setup.link, parse_link_rate(options.link));
  }
  setup.shape.ranks = options.ranks;
  setup.shape.servers = options.servers > 0 ? options.servers : options.ranks;
  setup.shape.steps = options.steps;
  setup.security = options.security;
  setup.rounds = static_cast<int>(options.rounds);
  setup.only = options.only;
  setup.gloo = options.gloo;
  if (!setup.gloo.empty() && setup.link == 0) {
    return Error{Errc::invalid_argument,
                 "--gloo is measured between hosts: add --link, e.g. 1gbit"};
  }
  const SteadyClock clock;
  ProgressLine line(clock);
  return bench_exchange(registry, setup, [&](std::string_view what) { line.show(what); });
}

int exchange(const BenchOptions& options, const Context& context) {
  const Result<ExchangeReport> measured = measure_exchange(options, context.registry);
  if (!measured) {
    const int exit = context.console.report(measured.error());
    return measured.error().code == Errc::cancelled ? kExitInterrupted : exit;
  }
  if (options.json) return print_json("exchange", measured->figures, context.console);
  std::string text;
  for (const std::string& line : measured->lines) text += line + "\n";
  return context.console.result(text);
}

using Measure = Result<Figures>(const BenchOptions&, const Context&);

int show(const std::string& name, Measure* measure, const BenchOptions& options,
         const Context& context) {
  const Result<Figures> figures = measure(options, context);
  if (!figures) return context.console.report(figures.error());
  if (options.json) return print_json(name, *figures, context.console);
  std::string text;
  for (const auto& [figure, value] : *figures) {
    text +=
        fmt::format("{:<44} {:>14}\n", figure,
                    value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value));
  }
  return context.console.result(text);
}

std::vector<Argument> exchange_arguments(BenchOptions& o) {
  using Range = std::pair<std::int64_t, std::int64_t>;
  return {{"--link", &o.link,
           "Between a host for each rank, emulated and shaped in both directions, e.g. 1gbit; "
           "needs root. Default: all on this machine, over ipc and tcp",
           "RATE"},
          {"--ranks", &o.ranks, "Workers with a rank each", "N", false, true, Range{2, 64}},
          {"--servers", &o.servers, "Beside the ranks; default: as many", "N", false, false,
           Range{1, 64}},
          {.name = "--security",
           .into = &o.security,
           .help = "Only over tcp that is so",
           .type = "none|curve",
           .choices = {"none", "curve"}},
          {"--steps", &o.steps, "Of each run; the first four are not measured", "N", false, true,
           Range{2, 100000}},
          {"--rounds", &o.rounds, "Of all contenders in turn", "N", false, true, Range{1, 1000}},
          {"--gloo", &o.gloo, "tests/bench/gloo_allreduce.py: gloo's all-reduce beside them",
           "SCRIPT"}};
}

}  // namespace

Command bench_command() {
  const auto o = std::make_shared<BenchOptions>();
  const Argument json = {"--json", &o->json, "Print one line of JSON at the end"};
  const Argument only = {"--only", &o->only, "Measure the parts whose name begins so", "NAME"};
  const Argument elements = {"--elements", &o->elements, "Of the gradient tensor",
                             "N",          false,        true};
  const auto shown = [o](const char* name, Measure* measure) {
    return [=](const Context& context) { return show(name, measure, *o, context); };
  };
  std::vector<Argument> of_exchange = {json, only, elements};
  for (Argument& argument : exchange_arguments(*o)) of_exchange.push_back(std::move(argument));
  return {
      .name = "bench",
      .help = "Measure this machine",
      .parts = {
          {"actors",
           "Asks per second, beside raw ZeroMQ",
           {json, only},
           shown("actors", measure_actors)},
          {"codec",
           "Ternary codec, beside reading memory, or a GPU's beside reading its own",
           {json, only, elements, o->device.argument()},
           shown("codec", measure_codec)},
          {"exchange", "Steps that only move gradients", std::move(of_exchange),
           [o](const Context& context) { return exchange(*o, context); }},
          {"input",
           "Preparing pictures, beside decoding them",
           {json,
            {"--pictures", &o->pictures,
             "A folder tree of JPEGs; default: flower_photos where data is looked for, or drawn",
             "DIR"},
            {"--rounds", &o->input_rounds, "Of all contenders in turn", "N", false, true,
             std::pair<std::int64_t, std::int64_t>{1, 1000}}},
           shown("input", measure_input)},
          {"net",
           "A step of nets on one thread, beside oneDNN's fastest for each operation, or on "
           "several "
           "or a GPU",
           {json,
            {"--net", &o->net, "Only this one; see sterna net list", "NAME"},
            {"--batch", &o->net_batch, "Images a step; default: as usual for the net", "N", false,
             false, std::pair<std::int64_t, std::int64_t>{1, 65536}},
            {"--rounds", &o->net_rounds,
             "Of each thing that is measured: the least of all, or on a GPU the median", "N", false,
             true, std::pair<std::int64_t, std::int64_t>{1, 1000}},
            {"--threads", &o->net_threads, "Of the CPU: several are measured beside one", "N",
             false, true, std::pair<std::int64_t, std::int64_t>{1, 1024}},
            o->device.argument()},
           shown("net", measure_net)},
          {"train",
           "A step with actors over one without, of workers on the CPU or on a GPU",
           {json,
            o->device.argument(),
            {"--net", &o->train_net,
             "In place of lenet's one rank: two ranks of this net, beside two trainers alone",
             "NAME"}},
           shown("train", measure_train)}}};
}

}  // namespace sterna::launcher
