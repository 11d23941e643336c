#include "actors/schemes/scheme.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "actors/schemes/schemes.h"

namespace sterna::actors {
namespace {

constexpr std::array kMakers = {sync_scheme};

}  // namespace

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
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
