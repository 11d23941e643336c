#include "launcher/bench/exchange/exchange_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "actors/job/job.h"
#include "launcher/bench/logs.h"
#include "launcher/job/run_job.h"

namespace sterna::launcher {

namespace {

constexpr std::size_t kElementsPerUnit = 1024;
/// Whose first exchanges find nothing in place: buffers, connections, TCP's windows.
constexpr std::uint64_t kDroppedSteps = 4;

std::string host_table(const std::string& name, const std::string& address) {
  return fmt::format("[[host]]\nname = \"{}\"\naddress = \"{}\"\n", name, address);
}

/// Steps done, when by the worker's own clock, and what had travelled until then.
struct Reached {
  std::uint64_t step = 0;
  double seconds = 0;
  actors::Traffic traffic;
};

std::optional<double> bits(std::uint64_t bytes, std::uint64_t elements) {
  if (elements == 0) return std::nullopt;
  return 8 * static_cast<double>(bytes) / static_cast<double>(elements);
}

/// Watches the workers' reports for where the measured steps begin and end.
class Watch final : public JobListener {
 public:
  Watch(const ClusterFile& file, const EmulatedHosts* hosts)
      : steps_(static_cast<std::uint64_t>(file.job.steps)), hosts_(hosts) {}

  void changed(const RunRecord& record) override {
    for (const auto& [worker, progress] : record.progress) {
      Span& span = spans_[worker];
      if (progress.step == span.last.step) continue;
      span.last = {progress.step, progress.seconds, progress.traffic};
      const bool begins = span.first.step < kDroppedSteps && progress.step < steps_;
      if (begins) span.first = span.last;
      // All are in the same step, give or take what is under way.
      if (worker != record.progress.begin()->first || hosts_ == nullptr) continue;
      if (begins) cards_first_ = hosts_->card_bytes();
      if (progress.step == steps_) cards_last_ = hosts_->card_bytes();
    }
  }

  Result<ExchangeStep> mean_step() const {
    ExchangeStep mean;
    for (const auto& [worker, span] : spans_) {
      if (span.last.step <= span.first.step) {
        return Error{Errc::internal, worker + " did not say how its steps went"};
      }
      mean.seconds =
          std::max(mean.seconds, (span.last.seconds - span.first.seconds) / span.steps());
    }
    count_bits(mean);
    if (hosts_ == nullptr) return mean;
    if (!cards_first_) return cards_first_.error();
    if (!cards_last_) return cards_last_.error();
    const double steps = spans_.begin()->second.steps();
    for (std::size_t i = 0; i < hosts_->count(); ++i) {
      const CardBytes& before = (*cards_first_)[i];
      const CardBytes& after = (*cards_last_)[i];
      const std::uint64_t larger = std::max(after.out - before.out, after.in - before.in);
      mean.card_bytes = std::max(mean.card_bytes, static_cast<double>(larger) / steps);
    }
    return mean;
  }

 private:
  struct Span {
    Reached first;
    Reached last;
    double steps() const { return static_cast<double>(last.step - first.step); }
  };
  /// Of one worker, which is like the others: without the parameters that each begins with.
  void count_bits(ExchangeStep& mean) const {
    const actors::Traffic& before = spans_.begin()->second.first.traffic;
    const actors::Traffic& after = spans_.begin()->second.last.traffic;
    mean.bits_up_ternarized = bits(after.ternarized_bytes - before.ternarized_bytes,
                                   after.ternarized_elements - before.ternarized_elements);
    mean.bits_up =
        bits(after.bytes_up - before.bytes_up, after.gradient_elements - before.gradient_elements);
    mean.bits_down = bits(after.parameter_bytes - before.parameter_bytes,
                          after.parameter_elements - before.parameter_elements);
  }

  using Cards = Result<std::vector<CardBytes>>;

  std::uint64_t steps_;
  const EmulatedHosts* hosts_;
  std::map<std::string, Span> spans_;
  Cards cards_first_ = Error{Errc::internal, "no worker has begun"};
  Cards cards_last_ = Error{Errc::internal, "no worker is done"};
};

}  // namespace

std::vector<std::uint32_t> exchange_tensors(const ExchangeShape& shape) {
  const std::size_t units = std::max<std::size_t>(1, shape.elements / kElementsPerUnit);
  const std::size_t fewest = (units + actors::kWidestLayer - 1) / actors::kWidestLayer;
  const std::size_t tensors = std::max(fewest, std::min(shape.tensors, units));
  std::vector<std::uint32_t> sizes(tensors, static_cast<std::uint32_t>(units / tensors));
  for (std::size_t i = 0; i < units % tensors; ++i) ++sizes[i];
  return sizes;
}

Result<ClusterFile> exchange_file(const ExchangeShape& shape, const ExchangeLink& link,
                                  const std::vector<std::string>& keys) {
  std::string hosts = host_table("here", "127.0.0.1");
  std::string head = "here";
  std::vector<std::string> names = {"here"};
  if (link.hosts != nullptr) {
    head = "bridge";
    names.clear();
    hosts = host_table(head, EmulatedHosts::own_address());
    for (std::size_t i = 0; i < link.hosts->count(); ++i) {
      names.push_back(EmulatedHosts::name(i));
      hosts += host_table(names.back(), EmulatedHosts::address(i));
    }
  }
  std::string actors;
  for (const auto& [role, count] :
       {std::pair{Role::kParameterServer, shape.servers}, std::pair{Role::kWorker, shape.ranks},
        std::pair{Role::kInputReader, shape.ranks}, std::pair{Role::kEvaluator, std::int64_t{1}}}) {
    actors += fmt::format("[[actor]]\nrole = \"{}\"\ncount = {}\nhosts = [\"{}\"]\n",
                          facts_of(role).name, count, fmt::join(names, "\", \""));
  }
  const std::string text = fmt::format(
      "format = 1\n"
      "[cluster]\nname = \"bench_exchange\"\nplacer = \"{}\"\nhead = \"{}\"\n"
      "transport = \"{}\"\nsecurity = \"{}\"\n"
      "{}{}"
      "[job]\nnet = \"lenet\"\nsteps = {}\nbatch = 1\n"
      "[optimizer]\nname = \"momentum\"\nlearning_rate = 1e-6\nweight_decay = 0.0\n"
      "[deadlines]\nstart = \"2m\"\nstep = \"10m\"\n",
      link.hosts != nullptr ? "join" : "local", head, link.transport, link.security, hosts, actors,
      shape.steps);
  STERNA_ASSIGN(ClusterFile file, parse_cluster_file(text, "the benchmark's cluster file", keys));
  // A net for measuring has no name that a file may hold.
  file.job.net = shape.net;
  file.job.hidden = exchange_tensors(shape);
  // They were started by somebody else, but share this machine's files.
  file.cluster.placer = "local";
  // Every file must have one; here there is nothing to evaluate, and it would be on the wire.
  std::erase_if(file.actors, [](const ActorPlan& actor) { return actor.role == Role::kEvaluator; });
  return file;
}

Result<ExchangeStep> run_exchange(const Registry& registry, const ClusterFile& file,
                                  const ExchangeLink& link, const input::DataLocation& data) {
  STERNA_ASSIGN(const BenchLogs logs, BenchLogs::create());
  JobOptions options;
  options.file = file;
  options.data = data;
  options.began = SteadyClock().now();
  options.log_directory = logs.path();
  RealMachine machine;
  if (link.hosts != nullptr) {
    options.make_placer = [&](const auto&, const auto&) {
      return Result<std::unique_ptr<Spawner>>(
          std::make_unique<EmulatedPlacer>(machine.spawner(), *link.hosts));
    };
  }
  Watch watch(file, link.hosts);
  const JobOutcome outcome = run_job(machine, registry, options, watch);
  const RunResult& result = outcome.record.result;
  if (outcome.interrupted) {
    logs.discard();
    return Error{Errc::cancelled, "interrupted"};
  }
  if (result.exit != 0) return logs.explain({Errc::remote, result.cause});
  logs.discard();
  return watch.mean_step();
}

}  // namespace sterna::launcher
