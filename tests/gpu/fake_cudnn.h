// What a test wants of the played cuDNN (fake_cudnn.cc).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cudnn_backend.h"

/// One of the configurations that its heuristics name.
struct FakeCudnnEngine {
  std::int64_t number = 0;
  std::vector<cudnnBackendNumericalNote_t> notes = {};
  cudnnStatus_t plan = CUDNN_STATUS_SUCCESS;  ///< what making a plan of it comes to
  std::int64_t workspace = 0;
};

struct FakeCudnn {
  std::vector<FakeCudnnEngine> engines;             ///< of every heuristic, in its order
  cudnnStatus_t graph = CUDNN_STATUS_SUCCESS;       ///< what making a graph comes to
  cudnnStatus_t heuristic = CUDNN_STATUS_SUCCESS;   ///< and a heuristic
  cudnnStatus_t descriptor = CUDNN_STATUS_SUCCESS;  ///< and a configuration, before it is filled
  std::atomic<int> at_once{0};                      ///< heuristics that are being made
  std::atomic<int> most_at_once{0};
  std::atomic<int> live{0};  ///< descriptors and handles
};
