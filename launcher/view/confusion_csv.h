// How often which class was taken for which, as a table that spreadsheets and pandas read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/job/observer.h"
#include "input/formats/labels.h"

namespace sterna::launcher {

struct Confusion {
  std::uint32_t classes = 0;
  std::vector<actors::ConfusionCell> cells;  ///< by label, then by answer, where they are not 0
};

/// A line for each label with its name, or its number where `names` has none for it, and how often
/// each class was the answer, and last how often none was; before them the columns' names:
/// `label,"cat","dog",2,…,none`. Names are in quotes: a class that is called "none" or "2" is not
/// what stands there without.
std::string to_csv(const Confusion& confusion, const input::ClassLabels& names);

}  // namespace sterna::launcher
