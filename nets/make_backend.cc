#include "nets/make_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nets/device/device_backend.h"
#include "nets/onednn/onednn_backend.h"

namespace sterna::nets {
namespace {

struct Entry {
  const char* name;
  Result<std::unique_ptr<Backend>> (*make)(const BackendOptions& options);
};

constexpr Entry kBackends[] = {{"onednn", OneDnnBackend::make}, {"device", DeviceBackend::make}};

}  // namespace

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kBackends));
  for (const Entry& entry : kBackends) names.emplace_back(entry.name);
  return names;
}

Result<std::unique_ptr<Backend>> make_backend(const BackendOptions& options) {
  for (const Entry& entry : kBackends)
    if (entry.name == options.name) return entry.make(options);
  return Error{Errc::invalid_argument, fmt::format("no backend is called \"{}\"; there are: {}",
                                                   options.name, fmt::join(backend_names(), ", "))};
}

}  // namespace sterna::nets
