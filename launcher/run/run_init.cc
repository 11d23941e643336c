#include "launcher/run/run_init.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "actors/weights/initial_weights.h"
#include "actors/weights/trained_weights.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/text/text_format.h"
#include "nets/describe_net.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

bool has_server_here(const ClusterFile& file) {
  const HostSection* head = head_of(file);
  const std::vector<std::string> servers = file.names_of_servers();
  return std::ranges::any_of(file.actors, [&](const ActorPlan& actor) {
    const auto host = std::ranges::find(file.hosts, actor.host, &HostSection::name);
    const bool serves = std::ranges::count(servers, actor.name) > 0;
    if (!serves || host == file.hosts.end()) return false;
    return !is_remote(file, *host) || &*host == head;
  });
}

/// Whether what is taken of the weights would name the classes of the data wrongly: they are of
/// other classes, or of the same in another order, and the logits are taken all the same.
Result<void> check_classes(const actors::InitialWeights& weights,
                           const std::vector<nets::ParameterSpec>& specs,
                           const actors::JobConfig& job, const input::DataLocation& data) {
  std::set<std::string> taken;
  for (const nets::ParameterSpec& spec : specs) {
    const bool takes = std::ranges::count(weights.match().taken, spec.name) > 0;
    if (spec.logits && takes) taken.insert(spec.name.substr(0, spec.name.rfind('/')));
  }
  const Result<actors::ModelNote> note = weights.note();
  if (taken.empty() || !note) return {};
  STERNA_ASSIGN(const actors::ModelNote own, note_of_job(job, data));
  const auto other = actors::first_other_class(*note, weights.path(), own, data.dir.string());
  if (!other) return {};
  return Error{Errc::invalid_argument,
               fmt::format("init.from: {}; of weights for other classes, or for these in another "
                           "order, take the rest, with init.skip = [\"{}\"]",
                           *other, fmt::join(taken, "\", \""))};
}

}  // namespace

ClusterFile with_absolute_init(const ClusterFile& file, const Console& console) {
  ClusterFile found = file;
  const std::filesystem::path place = expand_home(file.init.from);
  std::error_code ignored;
  if (file.init.from.empty() || !std::filesystem::exists(place, ignored)) return found;
  std::string& from = found.init.from;
  from = std::filesystem::absolute(place).lexically_normal().string();
  if (!std::filesystem::is_directory(from, ignored)) return found;
  // What is wrong with it look_at_init() says, and whoever else opens it.
  const auto weights = actors::TrainedWeights::open(from);
  if (!weights) return found;
  for (const std::string& why : weights->passed_over()) {
    console.say(printable(
        fmt::format("init.from: passed over: {}; {} is taken instead", why, weights->path())));
  }
  from = weights->path();
  return found;
}

Result<std::vector<std::string>> look_at_init(const ClusterFile& file,
                                              const input::DataLocation& data) {
  if (!file.trains() || file.init.from.empty()) return std::vector<std::string>();
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, data));
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(actors::net_options(job)));
  const auto weights = actors::InitialWeights::open(job, net.parameters);
  if (weights) {
    STERNA_TRY(check_classes(*weights, net.parameters, job, data));
    return actors::summary(*weights);
  }
  if (weights.error().code != Errc::not_found || has_server_here(file)) return weights.error();
  return std::vector<std::string>{fmt::format(
      "init.from: {} is not on this machine; the log of {} will say what is taken of it",
      file.init.from, file.names_of_servers().front())};
}

}  // namespace sterna::launcher
