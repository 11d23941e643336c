// What a split of a data set holds, example by example.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// The least and the most that pictures have of something.
struct Extent {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

struct Survey {
  std::uint64_t examples = 0;
  Extent rows;
  Extent columns;
  Extent channels;
  std::vector<std::uint64_t> per_class;  ///< examples, by label
  std::uint64_t damaged = 0;             ///< could not be read; in none of the above but `examples`
  std::vector<std::string> damages;      ///< of the first ten: which, and why
};

struct SurveyOptions {
  bool decode = false;  ///< each picture whole, and not its header alone
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// Reads every example once.
Survey survey(const input::Source& source, const SurveyOptions& options);

}  // namespace sterna::launcher
