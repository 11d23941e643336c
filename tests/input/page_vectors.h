// The test vectors that input/batches/BATCHES.md gives.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace sterna::input {

/// Each line in the page's blocks of this kind, "vectors" or "draws".
inline std::vector<std::string> page_vectors(const std::string& kind) {
  const char* source = std::getenv("STERNA_SOURCE");
  std::ifstream page(std::string(source == nullptr ? "." : source) + "/input/batches/BATCHES.md");
  EXPECT_TRUE(page.good()) << "run through ctest, or set STERNA_SOURCE";
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + kind;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace sterna::input
