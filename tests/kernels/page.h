// Test vectors that the tests read from the pages of kernels/, and what the pages compute them
// with.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace sterna::kernels {

/// A line: what is given -> what is expected.
struct Vector {
  std::vector<std::string> given;
  std::vector<std::string> expected;
  std::uint64_t number(std::size_t i) const { return std::stoull(given[i]); }
  std::uint64_t hex(std::size_t i) const { return std::stoull(given[i], nullptr, 16); }
  float real(std::size_t i) const { return std::stof(given[i]); }
};

/// The lines of the page's block that opens with ```name.
inline std::vector<Vector> vectors_of(const std::string& path, const std::string& name) {
  std::ifstream page(path);
  std::vector<Vector> found;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + name;
    } else if (inside) {
      Vector vector;
      auto* part = &vector.given;
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        if (word == "->") {
          part = &vector.expected;
        } else {
          part->push_back(word);
        }
      }
      found.push_back(vector);
    }
  }
  EXPECT_FALSE(found.empty()) << "no vectors of " << name << " on " << path;
  return found;
}

inline std::string hex(std::uint64_t value, int digits) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%0*llx", digits, static_cast<unsigned long long>(value));
  return text.data();
}

inline std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += hex(std::to_integer<std::uint64_t>(byte), 2);
  return text;
}

/// g(first), g(first + 1), ... of TRITS.md.
inline std::vector<float> page_gradient(std::uint64_t first, std::size_t count) {
  std::vector<float> g(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed = static_cast<std::uint32_t>((first + i) * 2654435761U);
    g[i] = static_cast<float>(static_cast<std::int32_t>(mixed) >> 8) * 0x1p-23F;
  }
  return g;
}

inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0xCBF29CE484222325},
                         [](std::uint64_t h, std::byte b) {
                           return (h ^ std::to_integer<std::uint64_t>(b)) * 0x100000001B3;
                         });
}

}  // namespace sterna::kernels
