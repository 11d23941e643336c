// A run's checkpoint of one server, made of a few arrays.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "actors/checkpoint/state_part.h"

namespace sterna::actors {

/// A piece of `values` of the array "KIND/TENSOR".
inline StatePiece piece_of(std::string_view kind, std::string_view tensor, std::uint64_t first,
                           const std::vector<float>& values) {
  return {array_of(kind, tensor), first, copy_bytes(std::as_bytes(std::span(values)))};
}

/// In the directory of a run, whose folders are made.
inline void keep_state(const std::string& run, std::uint64_t step, std::vector<StatePiece> pieces) {
  const std::string folder = run + "/" + kCheckpointFolder;
  std::filesystem::create_directories(folder);
  const PartWritten written = write_part({step, std::move(pieces)}, folder, "", "server0");
  ASSERT_EQ(written.error, "");
  Manifest manifest;
  manifest.net = "lenet";
  manifest.step = step;
  manifest.parts.push_back({"server0", part_file("server0"), written.bytes, written.hash});
  const Result<void> done = write_manifest(folder + "/" + checkpoint_name(step), manifest);
  ASSERT_TRUE(done.ok()) << done.error().message;
}

}  // namespace sterna::actors
