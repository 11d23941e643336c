#include "actors/worker/net_memory.h"

#include <fmt/format.h>

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

std::size_t largest_batch(const nets::NetOptions& options, std::uint64_t bytes) {
  std::size_t fits = 0;
  for (std::size_t too_many = options.batch; too_many - fits > 1;) {
    const std::size_t between = fits + (too_many - fits) / 2;
    (bytes_at(options, between, true) <= bytes ? fits : too_many) = between;
  }
  return fits;
}

std::size_t largest_micro_batch(const nets::NetOptions& options, std::uint64_t bytes) {
  for (std::size_t images = options.batch / 2; images > 0; --images) {
    if (options.batch % images == 0 && bytes_at(options, images, false) <= bytes) return images;
  }
  return 0;
}

}  // namespace

Result<void> check_nets_fit(const JobConfig& job, std::uint32_t ranks,
                            std::optional<std::uint64_t> available) {
  if (!available) return {};
  const nets::NetOptions options = net_options(job);
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(options));
  const std::uint64_t each = *available / ranks;
  if (net.training_bytes() <= each) return {};
  const std::string needs = fmt::format(
      "{} at {} images at once takes {:.3g} GB for each of {} {}, and {:.3g} GB of memory are free",
      job.net, nets::images_per_pass(options),
      static_cast<double>(net.training_bytes()) / kGigabyte, ranks, ranks == 1 ? "rank" : "ranks",
      static_cast<double>(*available) / kGigabyte);
  const std::size_t micro = largest_micro_batch(options, each);
  const std::size_t whole = largest_batch(options, each);
  std::string instead = "not even one image fits; take a smaller net";
  if (micro > 0) {
    instead = fmt::format("set job.micro_batch to {}, or job.batch to at most {}", micro, whole);
  } else if (whole > 0) {  // several passes need their gradients' sums besides
    instead = fmt::format("set job.batch to at most {}, without job.micro_batch", whole);
  }
  return Error{Errc::overloaded, fmt::format("{}: {}", needs, instead)};
}

}  // namespace sterna::actors
