#include "actors/job/device_fit.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "actors/job/fitting_batch.h"
#include "kernels/device/counting_device.h"

namespace sterna::actors {
namespace {

constexpr double kGigabyte = 1e9;

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) / kGigabyte; }

/// What all of it takes of one device, which has less.
struct Lack {
  int device = 0;
  std::size_t needed = 0;
  std::size_t free = 0;
};

/// A place of `what.devices` that is this device's first.
std::size_t first_place(const MadeOnDevices& what, std::size_t place) {
  const auto found = std::ranges::find(what.devices, what.devices[place]);
  return static_cast<std::size_t>(found - what.devices.begin());
}

/// Of each place of `what.devices`; one that is there twice has them in its first.
using Plans = std::vector<std::shared_ptr<kernels::KnownPlans>>;

/// The first device on which so large a batch does not fit; none: it fits. `plans`: what is known
/// of them, and will be. Errors: those of making it, and the device's.
Result<std::optional<Lack>> lack_of(const MadeOnDevices& what, const BatchSizes& sizes,
                                    const Plans& plans) {
  std::vector<std::shared_ptr<kernels::CountingDevice>> counting;
  MadeOnDevices::Devices on;
  for (std::size_t i = 0; i < what.devices.size(); ++i) {
    const std::size_t first = first_place(what, i);
    counting.push_back(first < i
                           ? counting[first]
                           : std::make_shared<kernels::CountingDevice>(what.devices[i], plans[i]));
    on.push_back(counting.back());
  }
  STERNA_TRY(what.make(sizes, on));
  for (std::size_t i = 0; i < counting.size(); ++i) {
    STERNA_ASSIGN(const std::size_t free, counting[i]->free_beside_libraries());
    if (counting[i]->most() <= free) continue;
    return std::optional(Lack{what.devices[i]->facts().index, counting[i]->most(), free});
  }
  return std::optional<Lack>();
}

bool fits(const MadeOnDevices& what, const BatchSizes& sizes, const Plans& plans) {
  const Result<std::optional<Lack>> lack = lack_of(what, sizes, plans);
  return lack && !*lack;
}

}  // namespace

Error memory_error(const Error& refused, const MadeOnDevices& what) {
  if (refused.code != Errc::overloaded) return refused;
  Plans plans;
  for (std::size_t i = 0; i < what.devices.size(); ++i) {
    plans.push_back(std::make_shared<kernels::KnownPlans>());
  }
  const Result<std::optional<Lack>> found = lack_of(what, what.sizes, plans);
  if (!found || !*found) return refused;  // others have let go of some, or it lies in pieces
  const Lack& lack = **found;
  const std::string passes =
      what.sizes.micro_batch == 0
          ? ""
          : fmt::format(" in passes of {} (job.micro_batch)", what.sizes.micro_batch);
  const auto [whole, passed] = what.sizes;
  std::string instead = kNotOneImageFits;
  const auto at_once = [&](std::uint32_t images) { return fits(what, {.batch = images}, plans); };
  if (const std::uint32_t batch = largest_batch(whole, at_once); batch > 0) {
    instead = fmt::format("the largest batch that fits is {}", batch);
  }
  const auto in_passes = [&, batch = whole](std::uint32_t images) {
    return fits(what, {batch, images}, plans);
  };
  const std::uint32_t images =
      what.splits ? largest_micro_batch(whole, passed == 0 ? whole : passed, in_passes) : 0;
  if (images > 0) instead += fmt::format(", or set job.micro_batch to {}", images);
  return {Errc::overloaded,
          fmt::format("{} with {} = {}{} needs {:.4g} GB of device memory, device {} has {:.4g} GB "
                      "free; {}",
                      what.net, what.key, what.sizes.batch, passes, gigabytes(lack.needed),
                      lack.device, gigabytes(lack.free), instead)};
}

}  // namespace sterna::actors
