#include "launcher/cluster_file/role.h"

#include <array>

namespace sterna::launcher {
namespace {

constexpr std::int64_t kRestarts = 5;
constexpr std::array kRoles = {
    RoleFacts{Role::kNone, "", "", "type", "", "args"},
    RoleFacts{Role::kParameterServer, "parameter_server", "server", "parameter server",
              "keeps the parameters", "replicas", false, kRestarts},
    RoleFacts{Role::kWorker, "worker", "worker", "worker", "computes gradients", "ranks", false,
              kRestarts, true},
    RoleFacts{Role::kInputReader, "input_reader", "reader", "input reader", "reads the examples",
              "shards", true, kRestarts},
    RoleFacts{Role::kEvaluator, "evaluator", "evaluator", "evaluator", "measures precision@1", "",
              true, kRestarts, true},
};

}  // namespace

std::span<const RoleFacts> roles() { return kRoles; }

const RoleFacts& facts_of(Role role) { return kRoles.at(static_cast<std::size_t>(role)); }

Role role_named(std::string_view name) {
  for (const RoleFacts& facts : kRoles) {
    if (facts.name == name) return facts.role;
  }
  return Role::kNone;
}

std::vector<std::string_view> role_names() {
  std::vector<std::string_view> names;
  for (const RoleFacts& facts : kRoles) {
    if (facts.role != Role::kNone) names.push_back(facts.name);
  }
  return names;
}

}  // namespace sterna::launcher
