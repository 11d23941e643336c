// What every benchmark gives, and how it says what it is about.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// Named figures in the order of their names: rates per second, ratios, seconds, bytes.
using Figures = std::map<std::string, double>;
/// Gets one line for each part that is about to be measured.
using BenchProgress = std::function<void(std::string_view what)>;

}  // namespace sterna::launcher
