// A whole checkpoint of eight bytes, for who only looks whether there is one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"

namespace sterna::launcher {

/// `run` is a run's directory.
inline void keep_checkpoint(const std::string& run, std::uint64_t step,
                            const std::string& identity = "") {
  const std::string path = run + "/checkpoints/" + actors::checkpoint_name(step);
  std::filesystem::create_directories(path);
  std::ofstream(path + "/server0.safetensors") << "12345678";
  const Result<actors::Hash> hash = actors::hash_of_file(path + "/server0.safetensors");
  ASSERT_TRUE(hash.ok()) << hash.error().message;
  actors::Manifest manifest;
  manifest.run = identity;
  manifest.net = "mlp";
  manifest.step = step;
  manifest.parts.push_back({"server0", "server0.safetensors", 8, *hash});
  const Result<void> written = actors::write_manifest(path, manifest);
  ASSERT_TRUE(written.ok()) << written.error().message;
}

}  // namespace sterna::launcher
