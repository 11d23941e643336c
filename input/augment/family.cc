#include "input/augment/family.h"

#include <algorithm>
#include <array>

namespace sterna::input {

/// Every family, a line each.
extern const Family kMnistFamily;
extern const Family kCifarFamily;
extern const Family kAlexnetFamily;
extern const Family kVggFamily;
extern const Family kInceptionFamily;
extern const Family kResizeCropFamily;
extern const Family kUnitFamily;

namespace {
constexpr std::array kFamilies{
    &kMnistFamily,     &kCifarFamily,      &kAlexnetFamily, &kVggFamily,
    &kInceptionFamily, &kResizeCropFamily, &kUnitFamily,
};
}  // namespace

const Family* find_family(std::string_view name) {
  const auto* found = std::ranges::find(kFamilies, name, &Family::name);
  return found == kFamilies.end() ? nullptr : *found;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size());
  for (const Family* family : kFamilies) names.push_back(family->name);
  return names;
}

}  // namespace sterna::input
