#include "actors/schemes/scheme.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

// The schemes that there are: each is defined in a file of this room.
#define STERNA_SCHEMES(line)                                                                    \
  line(sync_scheme) line(async_scheme) line(downpour_scheme) line(agn_scheme) line(sagn_scheme) \
      line(local_sgd_scheme) line(aeasgd_scheme) line(aeamsgd_scheme)

namespace sterna::actors {

#define STERNA_DECLARE(make) Scheme make();
#define STERNA_NAME(make) make,
STERNA_SCHEMES(STERNA_DECLARE)

namespace {

constexpr std::array kMakers = {STERNA_SCHEMES(STERNA_NAME)};

}  // namespace

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  names.reserve(kMakers.size());
  for (const auto& make : kMakers) names.push_back(make().name);
  return names;
}

Result<Scheme> find_scheme(std::string_view name) {
  for (const auto& make : kMakers) {
    if (Scheme scheme = make(); scheme.name == name) return scheme;
  }
  return Error{Errc::invalid_argument,
               fmt::format("scheme \"{}\" is none of {}", name, fmt::join(scheme_names(), ", "))};
}

}  // namespace sterna::actors
