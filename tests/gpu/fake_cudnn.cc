// A libcudnn.so.9 whose heuristics name the engines that a test tells it (fake_cudnn.h), and which
// says of each list how long it is, however much of it there was room for. It computes nothing.
#include "fake_cudnn.h"

#include <algorithm>
#include <thread>

struct cudnnContext {};

struct FakeCudnnDescriptor {
  cudnnBackendDescriptorType_t type;
  std::size_t engine = 0;  // which of the engines it is of
};

namespace {

FakeCudnn& fake() {
  static FakeCudnn fake;
  return fake;
}

/// Long enough for another thread to come in, if it may.
void stay_a_while() {
  int now = ++fake().at_once;
  int most = fake().most_at_once;
  while (most < now && !fake().most_at_once.compare_exchange_weak(most, now)) {
  }
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
  --fake().at_once;
}

}  // namespace

extern "C" {

FakeCudnn* fake_cudnn() { return &fake(); }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  ++fake().live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  --fake().live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t /*handle*/, cudaStream_t /*stream*/) {
  return CUDNN_STATUS_SUCCESS;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? "no memory" : "an error";
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && fake().descriptor != CUDNN_STATUS_SUCCESS) {
    return fake().descriptor;
  }
  *descriptor = new FakeCudnnDescriptor{type};
  ++fake().live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete descriptor;
  --fake().live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (descriptor->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) return fake().graph;
  if (descriptor->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    return fake().engines[descriptor->engine].plan;
  }
  if (descriptor->type != CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) return CUDNN_STATUS_SUCCESS;
  stay_a_while();
  return fake().heuristic;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t /*type*/, std::int64_t /*count*/,
                                       const void* elements) {
  if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) {
    descriptor->engine = (*static_cast<const cudnnBackendDescriptor_t*>(elements))->engine;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t /*type*/, std::int64_t requested,
                                       std::int64_t* count, void* elements) {
  const auto room = static_cast<std::size_t>(requested);
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    const std::size_t all = fake().engines.size();
    *count = static_cast<std::int64_t>(all);
    auto* const configurations = static_cast<cudnnBackendDescriptor_t*>(elements);
    for (std::size_t i = 0; i < std::min(room, all); ++i) configurations[i]->engine = i;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
    (*static_cast<cudnnBackendDescriptor_t*>(elements))->engine = descriptor->engine;
    return CUDNN_STATUS_SUCCESS;
  }
  const FakeCudnnEngine& engine = fake().engines[descriptor->engine];
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
    *count = static_cast<std::int64_t>(engine.notes.size());
    std::copy_n(engine.notes.begin(), std::min(room, engine.notes.size()),
                static_cast<cudnnBackendNumericalNote_t*>(elements));
    return CUDNN_STATUS_SUCCESS;
  }
  const bool size = name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE;
  *static_cast<std::int64_t*>(elements) = size ? engine.workspace : engine.number;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t /*handle*/, cudnnBackendDescriptor_t /*plan*/,
                                  cudnnBackendDescriptor_t /*pack*/) {
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
