// A small net's weights as a file that says what it is.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "nets/describe_net.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {

/// An mlp without hidden layers for grey pictures of 2 x 2 pixels in 3 classes: a matrix {3, 4} and
/// 3 biases.
inline ModelNote small_note() {
  JobConfig job;
  job.net = "mlp";
  job.picture = {2, 2, 1};
  job.classes = 3;
  return note_of(job, 5, "mnist", {{"dark", "bright"}, 1});
}

/// Of class c: c times the sum of the pixels, from -1 to 1, less a bias of 1 for class 2.
inline void write_small_model(const std::string& path, const ModelNote& note = small_note()) {
  const auto table = nets::describe_net(small_note().net(1)).value().parameters;
  const std::vector<float> weights{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, biases{0, 0, -1};
  const std::vector<std::span<const float>> values{weights, biases};
  ASSERT_TRUE(nets::write_safetensors(path, table, values, to_metadata(note)).ok());
}

}  // namespace sterna::actors
