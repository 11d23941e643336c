#include "actors/worker/ranks/net_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "actors/job/fitting_batch.h"
#include "actors/parameters/update_rule.h"
#include "nets/describe_net.h"
#include "nets/net_options.h"

namespace sterna::actors {
namespace {

constexpr double kGigabyte = 1e9;

/// Of one rank whose passes take so many images, which is its whole batch where `whole`.
std::uint64_t bytes_at(nets::NetOptions options, std::size_t images, bool whole) {
  options.batch = whole ? images : options.batch;
  options.micro_batch = whole ? 0 : images;
  const Result<nets::NetDescription> net = nets::describe_net(options);
  return net ? net->training_bytes() : UINT64_MAX;
}

}  // namespace

std::uint32_t replicas_of(const JobConfig& job, std::uint32_t ranks, std::uint32_t cores) {
  return job.in_step() ? std::clamp(cores, 1U, ranks) : ranks;
}

std::vector<std::shared_ptr<kernels::Device>> devices_of(
    const std::vector<std::shared_ptr<kernels::Device>>& devices, std::size_t replicas) {
  std::vector<std::shared_ptr<kernels::Device>> of;
  for (std::size_t i = 0; i < replicas && !devices.empty(); ++i) {
    of.push_back(devices[i % devices.size()]);
  }
  return of;
}

std::vector<std::uint32_t> ranks_of_seat(const WorkerArgs& args, bool on_devices,
                                         std::uint32_t seat, std::uint32_t seats) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < args.ranks; ++i) {
    const bool in_turn = args.job.averaged_ranks > 1 || on_devices;
    const std::uint64_t on = in_turn ? i % seats : std::uint64_t{i} * seats / args.ranks;
    if (on == seat) numbers.push_back(args.first_rank + i);
  }
  return numbers;
}

Result<std::uint64_t> numbers_of_ranks(const JobConfig& job, std::uint32_t ranks,
                                       std::uint32_t replicas) {
  std::uint64_t numbers = 0;
  // Those of two steps, where they outlive the worker.
  const std::uint64_t pushing = ranks / job.averaged_ranks;
  if (job.gradient.error_feedback) numbers += pushing * (job.workers_come_again() ? 2 : 1);
  if (job.gradient.clip_norm > 0) numbers += ranks;
  // The sum, and what came before its turn: of each replica but one at most a gradient.
  if (job.averaged_ranks > 1) numbers += replicas;
  if (!job.facts().windows) return numbers;
  STERNA_ASSIGN(const UpdateRule local, UpdateRule::make_local(job));
  // Its own parameters, its velocity, what came, what goes; or the window's sum, where it began.
  const std::uint64_t besides = job.facts().elastic ? 4 : job.facts().differences ? 2 : 1;
  return numbers + ranks * (local.slots().size() + besides);
}

Result<void> check_nets_fit(const JobConfig& job, std::uint32_t ranks, std::uint32_t replicas,
                            std::optional<std::uint64_t> available) {
  if (!available) return {};
  const nets::NetOptions options = net_options(job);
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(options));
  STERNA_ASSIGN(const std::uint64_t numbers, numbers_of_ranks(job, ranks, replicas));
  const std::uint64_t kept = numbers * net.trained_elements() * sizeof(float);
  const std::uint64_t each = (*available - std::min(*available, kept)) / replicas;
  if (net.training_bytes() <= each) return {};
  const auto gigabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kGigabyte; };
  const std::string besides =
      kept == 0 ? ""
                : fmt::format(", and {:.3g} GB for what {} {} between steps", gigabytes(kept),
                              ranks, ranks == 1 ? "rank keeps" : "ranks keep");
  const std::string needs = fmt::format(
      "{} at {} images at once takes {:.3g} GB for each of {} {}{}, and {:.3g} GB of memory are "
      "free",
      job.net, nets::images_per_pass(options), gigabytes(net.training_bytes()), replicas,
      replicas == 1 ? "net" : "nets", besides, gigabytes(*available));
  const auto batch = static_cast<std::uint32_t>(options.batch);
  const std::uint32_t micro = largest_micro_batch(
      batch, batch, [&](std::uint32_t images) { return bytes_at(options, images, false) <= each; });
  const std::uint32_t whole = largest_batch(
      batch, [&](std::uint32_t images) { return bytes_at(options, images, true) <= each; });
  std::string instead = kNotOneImageFits;
  if (micro > 0) {
    instead = fmt::format("set job.micro_batch to {}, or job.batch to at most {}", micro, whole);
  } else if (whole > 0) {  // several passes need their gradients' sums besides
    instead = fmt::format("set job.batch to at most {}, without job.micro_batch", whole);
  }
  return Error{Errc::overloaded, fmt::format("{}: {}", needs, instead)};
}

}  // namespace sterna::actors
