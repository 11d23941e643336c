// gpu-tests: what only a GPU can show. It wants a driver, the module beside it, and nothing else;
// where there is no GPU it says so and ends with 77, which ctest takes for skipped, or with 1 where
// --gpu, or STERNA_TEST_GPU in its environment, demands one.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "codec_checks.h"
#include "kernels/device/cuda_module.h"
#include "kernels/isa/isa.h"
#include "launcher/bench/codec/device/device_codec.h"
#include "speed_goals.h"

namespace sterna::kernels {
namespace {

constexpr int kFormat = 1;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kSkipped = 77;

constexpr const char* kUsage =
    "usage: bin/gpu-tests [--json FILE] [--gpu] [--device N] [--no-speed | --only-speed]\n"
    "  --json FILE   writes what was found as JSON\n"
    "  --gpu         fails, instead of skipping, where there is no GPU\n"
    "  --device N    of those that CUDA_VISIBLE_DEVICES shows; 0\n"
    "  --no-speed    only whether all bits are the CPU's\n"
    "  --only-speed  only how fast it is\n";

struct Options {
  std::string json;
  int device = 0;
  bool demanded = std::getenv("STERNA_TEST_GPU") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  bool speed = true;
  bool bits = true;
};

using Json = nlohmann::ordered_json;

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

/// The checks' results, and how many failed.
int check_all(Device& device, Json& json) {
  int failed = 0;
  for (const DeviceCheck& check : codec_checks()) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<void> held = check.run(device, Thoroughness::full);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    say(fmt::format("{}  the CPU's bits: {} ({:.1f} s){}", held ? "ok    " : "FAILED", check.name,
                    took.count(), held ? "" : "\n        " + held.error().message));
    json["checks"].push_back({{"name", check.name},
                              {"ok", held.ok()},
                              {"error", held ? "" : held.error().message},
                              {"seconds", took.count()}});
    failed += held ? 0 : 1;
  }
  return failed;
}

/// The table of speeds; a figure below its floor is no failure of the program, but is marked.
int measure_all(Device& device, Json& json) {
  const Result<launcher::Figures> figures =
      launcher::bench_device_codec(device, {}, "", [](std::string_view /*part*/) {});
  if (!figures) {
    say("FAILED  speed: " + figures.error().message);
    json["speed_error"] = figures.error().message;
    return 1;
  }
  json["figures"] = *figures;
  say(fmt::format("{:<28}{:>10}{:>10}{:>10}", "figure", "found", "floor", "aim"));
  for (const SpeedGoal& goal : kSpeedGoals) {
    const double found = figures->at(goal.figure);
    const bool met = goal.less_is_better ? found <= goal.floor : found >= goal.floor;
    say(fmt::format("{:<28}{:>10.3g}{:>10.3g}{:>10.3g}{}", goal.figure, found, goal.floor, goal.aim,
                    met ? "" : "  beyond its floor"));
    json["goals"].push_back(
        {{"name", goal.figure}, {"floor", goal.floor}, {"aim", goal.aim}, {"met", met}});
  }
  say(fmt::format("{:<28}{:>10.4g}", "read_gbps", figures->at("read_gbps")));
  return 0;
}

int run(const Options& options, Json& json) {
  const Result<CudaModule> module = CudaModule::open();
  Result<std::unique_ptr<Device>> device =
      module ? module->device(options.device) : Result<std::unique_ptr<Device>>(module.error());
  if (!device) {
    json["no_gpu"] = device.error().message;
    say((options.demanded ? "FAILED  no GPU: " : "skipped: ") + device.error().message);
    return options.demanded ? kFailed : kSkipped;
  }
  const DeviceFacts facts = (*device)->facts();
  say(fmt::format(
      "device {}: {}, compute capability {}.{}, {} multiprocessors, driver {} (CUDA {})",
      options.device, facts.name, facts.major, facts.minor, facts.multiprocessors,
      module->driver().release, module->driver().cuda));
  json["device"] = {{"name", facts.name},     {"major", facts.major},
                    {"minor", facts.minor},   {"multiprocessors", facts.multiprocessors},
                    {"memory", facts.memory}, {"cache", facts.cache}};
  json["driver"] = {{"release", module->driver().release}, {"cuda", module->driver().cuda}};
  json["cpu_isa"] = name(best_isa());
  int failed = options.bits ? check_all(**device, json) : 0;
  if (options.speed) failed += measure_all(**device, json);
  say(failed == 0 ? "all is well" : fmt::format("{} failed", failed));
  return failed == 0 ? 0 : kFailed;
}

int main_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--gpu") {
      options.demanded = true;
    } else if (word == "--no-speed") {
      options.speed = false;
    } else if (word == "--only-speed") {
      options.bits = false;
    } else if (word == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (word == "--device" && i + 1 < argc) {
      options.device = std::atoi(argv[++i]);  // NOLINT: what is no number is device 0
    } else {
      std::fputs(kUsage, word == "--help" ? stdout : stderr);
      return word == "--help" ? 0 : kBadInput;
    }
  }
  Json json = {{"format", kFormat}};
  const int status = run(options, json);
  json["status"] = status == 0 ? "passed" : status == kSkipped ? "skipped" : "failed";
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << json.dump(2) << "\n";
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write %s\n", options.json.c_str());
      return kFailed;
    }
  }
  return status;
}

}  // namespace
}  // namespace sterna::kernels

int main(int argc, char** argv) { return sterna::kernels::main_of(argc, argv); }
