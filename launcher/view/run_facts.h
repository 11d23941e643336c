// What is to be said of a run at one moment, as short texts in the order in which they are shown.
#pragma once

#include <string>
#include <vector>

#include "launcher/view/run_status.h"

namespace sterna::launcher {

enum class Style { plain, bold, dim, good, bad, wait };

struct Fact {
  std::string text;
  Style style = Style::plain;
};

std::vector<Fact> facts(const RunStatus& status);

}  // namespace sterna::launcher
