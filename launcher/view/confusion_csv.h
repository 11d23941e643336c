// How often which class was taken for which, as a table that spreadsheets and pandas read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/job/observer.h"

namespace sterna::launcher {

struct Confusion {
  std::uint32_t classes = 0;
  std::vector<actors::ConfusionCell> cells;  ///< by label, then by answer, where they are not 0
};

/// A line for each label with its number and how often each class was the answer, and last how
/// often none was; before them the columns' names: "label,0,1,…,none".
std::string to_csv(const Confusion& confusion);

}  // namespace sterna::launcher
