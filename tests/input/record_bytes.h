// Records of noise, and files of them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "input/records/tfrecord.h"

namespace sterna::input {

/// Records of these lengths, the same bytes for the same seed.
inline std::vector<std::vector<std::uint8_t>> noise(const std::vector<std::size_t>& lengths,
                                                    std::uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::uint8_t>> records;
  for (const std::size_t length : lengths) {
    records.emplace_back(length);
    for (std::uint8_t& byte : records.back()) byte = static_cast<std::uint8_t>(random());
  }
  return records;
}

inline void write_records(const std::filesystem::path& path,
                          const std::vector<std::vector<std::uint8_t>>& records) {
  Result<TfRecordWriter> writer = TfRecordWriter::create(path);
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  for (const auto& record : records) {
    const Result<void> appended = writer->append(record);
    ASSERT_TRUE(appended.ok()) << appended.error().message;
  }
  const Result<void> finished = writer->finish();
  ASSERT_TRUE(finished.ok()) << finished.error().message;
}

}  // namespace sterna::input
