#include "launcher/doctor/gpu_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "kernels/device/cuda_module.h"
#include "kernels/device/driver.h"
#include "kernels/device/library.h"
#include "launcher/hosts/host_plan.h"
#include "nets/describe_net.h"

namespace sterna::launcher {
namespace {

/// What actor.backend says of those that compute on a card.
constexpr std::string_view kCudaBackend = "cuda";

/// Of a host those that compute on a card.
std::vector<const ActorPlan*> computing_on_cuda(const ClusterFile& file, const HostSection& host) {
  std::vector<const ActorPlan*> actors;
  for (const ActorPlan& actor : file.actors) {
    if (actor.host == host.name && actor.backend == kCudaBackend) actors.push_back(&actor);
  }
  return actors;
}

/// The cards that an actor computes on, each once. Where the file does not give them out it sees
/// all and takes the first.
std::set<std::int64_t> cards_of(const ActorPlan& actor) {
  if (actor.devices.empty()) return {0};
  return {actor.devices.begin(), actor.devices.end()};
}

/// The names of the actors on each card that several share.
std::map<std::int64_t, std::vector<std::string>> shared_cards(const ClusterFile& file,
                                                              const HostSection& host) {
  std::map<std::int64_t, std::vector<std::string>> users;
  for (const ActorPlan* actor : computing_on_cuda(file, host)) {
    for (const std::int64_t card : cards_of(*actor)) users[card].push_back(actor->name);
  }
  std::erase_if(users, [](const auto& card) { return card.second.size() < 2; });
  return users;
}

/// Whether its net has convolutions, for which a card needs another library.
bool convolves(const ClusterFile& file) {
  const nets::ZooNet* net = nets::find_net(file.job.net);
  if (net == nullptr) return false;
  // Which operations there are does not depend on the images.
  const auto what = nets::describe_net(
      {.name = file.job.net, .images = net->usual, .hidden = file.job.hidden, .batch = 1});
  return what && std::ranges::any_of(what->operations, [](const nets::Operation& operation) {
           return std::holds_alternative<nets::ConvolutionSpec>(operation);
         });
}

class GpuCheck {
 public:
  GpuCheck(const ClusterFile& file, const HostSection& host, const ShippedProgram& program,
           const HostFacts& facts)
      : file_(file), host_(host), program_(program), facts_(facts) {}

  std::vector<Finding> run() && {
    check_count();
    check_module();
    check_driver();
    check_libraries();
    check_peers();
    check_sharing();
    return std::move(findings_);
  }

 private:
  void find(const std::string& check, const std::string& wrong, const std::string& fix) {
    findings_.push_back({host_.name, check, wrong, fix});
  }
  void hint(const std::string& check, const std::string& wrong, const std::string& fix) {
    findings_.push_back({host_.name, check, wrong, fix, true});
  }
  /// A command as it is typed here.
  std::string there(const std::string& command) const {
    return host_.ssh.empty() ? command : fmt::format("ssh {} {}", host_.ssh, command);
  }

  void check_count() {
    if (!facts_.gpus || *facts_.gpus >= host_.gpus) return;
    find(
        "gpus",
        *facts_.gpus == 0
            ? fmt::format("host.gpus is {}, and no NVIDIA driver shows any", host_.gpus)
            : fmt::format("host.gpus is {}, and it has {}", host_.gpus, *facts_.gpus),
        fmt::format("set host.gpus to {}, or see what {} says", *facts_.gpus, there("nvidia-smi")));
  }

  void check_module() {
    if (computing_on_cuda(file_, host_).empty()) return;
    const bool shipped = is_remote(file_, host_);
    if (shipped ? program_.ships_module || program_.hash.empty() : program_.has_module) return;
    find("module",
         fmt::format("{}{} is not {}: sterna was built without CUDA", kWanted, kernels::kCudaModule,
                     shipped ? "in the bundle that is shipped" : "beside the program"),
         fmt::format("build it where nvcc 13.0 or newer is{}", kOrCpu));
  }

  void check_driver() {
    if (!facts_.driver) return;
    int release = 0;
    std::from_chars(facts_.driver->data(), facts_.driver->data() + facts_.driver->size(), release);
    if (facts_.driver->empty()) {
      return find("driver", fmt::format("{}there is no NVIDIA driver", kWanted),
                  fmt::format("install release {} or newer; in a container, let its runtime bring "
                              "the host's{}",
                              kernels::kLeastDriver, kOrCpu));
    }
    if (release < kernels::kLeastDriver) {
      return find("driver", fmt::format("{}the NVIDIA driver is {}", kWanted, *facts_.driver),
                  fmt::format("install release {} or newer{}", kernels::kLeastDriver, kOrCpu));
    }
    int capability = kernels::kLeastCapability;
    std::from_chars(facts_.capability.data(), facts_.capability.data() + facts_.capability.size(),
                    capability);
    if (capability >= kernels::kLeastCapability) return;
    find("gpus", fmt::format("{}a card has compute capability {}", kWanted, facts_.capability),
         fmt::format("{}.0 is needed: A100, RTX 30, L4, H100 and their successors{}",
                     kernels::kLeastCapability, kOrCpu));
  }

  void check_libraries() {
    for (const auto& [library, has] : facts_.missing_libraries) {
      find("libraries",
           has.empty()
               ? fmt::format("{}{} is not there", kWanted, library)
               : fmt::format("{}{} is not there with all its parts: {}", kWanted, library, has),
           fmt::format("install {}, or name its folder in host.cuda{}",
                       library == kernels::kCublasLt ? "CUDA 13" : "cuDNN 9", kOrCpu));
    }
  }

  void check_peers() {
    for (const ActorPlan* actor : computing_on_cuda(file_, host_)) {
      const std::set<std::int64_t> cards = cards_of(*actor);
      std::vector<std::string> apart;
      for (const std::int64_t to : cards) {
        for (const std::int64_t from : cards) {
          const std::string why = reads(to, from);
          if (why != "OK") apart.push_back(fmt::format("{} of {}: {}", to, from, why));
        }
      }
      if (apart.empty()) continue;
      hint("peers",
           fmt::format("{} computes on the cards {}, which do not all read each other's memory "
                       "({}): what it exchanges goes through the host's",
                       actor->name, fmt::join(cards, ", "), fmt::join(apart, ", ")),
           fmt::format("name others in actor.devices: {}", there("nvidia-smi topo -p2p r")));
    }
  }
  /// How one card reads another's memory, "OK" where nobody says.
  std::string reads(std::int64_t to, std::int64_t from) const {
    const auto row = facts_.peers.find(static_cast<std::size_t>(to));
    const auto cell = static_cast<std::size_t>(from);
    if (to == from || row == facts_.peers.end() || cell >= row->second.size()) return "OK";
    return row->second[cell];
  }

  void check_sharing() {
    if (facts_.mps.value_or(true)) return;
    for (const auto& [card, users] : shared_cards(file_, host_)) {
      hint("mps",
           fmt::format("{} share card {}, which runs one process at a time where MPS does not run",
                       fmt::join(users, ", "), card),
           there("nvidia-cuda-mps-control -d"));
    }
  }

  static constexpr std::string_view kWanted = "actor.backend is \"cuda\", and ";
  static constexpr std::string_view kOrCpu =
      ", or let its actors compute on the CPU (actor.backend)";

  const ClusterFile& file_;
  const HostSection& host_;
  const ShippedProgram& program_;
  const HostFacts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

void ask_about_gpus(const ClusterFile& file, const HostSection& host, FactsQuestion& question) {
  question.gpus = host.gpus > 0;
  const std::vector<const ActorPlan*> actors = computing_on_cuda(file, host);
  question.cuda = !actors.empty();
  if (actors.empty()) return;
  question.environment = environment_of(host);
  question.libraries = {{kernels::kCublasLt}};
  if (convolves(file)) question.libraries.push_back(kernels::parts_of_cudnn());
  question.peers = std::ranges::any_of(
      actors, [](const ActorPlan* actor) { return cards_of(*actor).size() > 1; });
  question.mps = !shared_cards(file, host).empty();
}

std::vector<Finding> check_gpus(const ClusterFile& file, const HostSection& host,
                                const ShippedProgram& program, const HostFacts& facts) {
  return GpuCheck(file, host, program, facts).run();
}

}  // namespace sterna::launcher
