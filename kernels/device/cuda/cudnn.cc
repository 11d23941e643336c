#include "kernels/device/cuda/cudnn.h"

#include <cuda_runtime_api.h>
#include <cudnn_backend.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/cuda/cuda_error.h"
#include "kernels/device/library.h"

namespace sterna::kernels {
namespace {

constexpr std::int64_t kAlignment = 16;
constexpr std::int64_t kMostPlans = 64;  // of a heuristic's, in its order
constexpr std::size_t kMostWorkspace = std::size_t{1} << 30U;

struct Functions {
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnGetErrorString) error_string = nullptr;
  decltype(&cudnnBackendCreateDescriptor) make = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) unmake = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendSetAttribute) set = nullptr;
  decltype(&cudnnBackendGetAttribute) get = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
};

Result<Functions> load() {
  const LibraryPlaces places = library_places();
  // Its engines link it, and find it only where it is loaded.
  STERNA_TRY(open_libraries({kCublasLt}, places));
  STERNA_ASSIGN(void* const library, open_libraries(parts_of_cudnn(), places));
  Functions f;
  const bool all = find_function(library, "cudnnCreate", f.create) &&
                   find_function(library, "cudnnDestroy", f.destroy) &&
                   find_function(library, "cudnnSetStream", f.set_stream) &&
                   find_function(library, "cudnnGetErrorString", f.error_string) &&
                   find_function(library, "cudnnBackendCreateDescriptor", f.make) &&
                   find_function(library, "cudnnBackendDestroyDescriptor", f.unmake) &&
                   find_function(library, "cudnnBackendFinalize", f.finalize) &&
                   find_function(library, "cudnnBackendSetAttribute", f.set) &&
                   find_function(library, "cudnnBackendGetAttribute", f.get) &&
                   find_function(library, "cudnnBackendExecute", f.execute);
  if (!all) {
    return Error{Errc::unavailable, "libcudnn.so.9 lacks functions of cuDNN 9; install that"};
  }
  return f;
}

/// Whether the library says of what it was given that it has nothing for it: it will again. All
/// else lies with the card or the host as they are now, where another plan, of other bits, is no
/// way out.
bool has_nothing(cudnnStatus_t status) {
  const auto category = CUDNN_STATUS_CATEGORY(static_cast<int>(status));
  return category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM ||
         status == CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
}

bool lacks_memory(cudnnStatus_t status) {
  return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
         status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

/// Errors: overloaded, where memory is lacking; else unavailable.
Result<void> checked_by(const Functions& f, cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return Error{lacks_memory(status) ? Errc::overloaded : Errc::unavailable,
               std::string(what) + ": " + f.error_string(status)};
}

/// The library's heuristics share what they know, unguarded: one at a time in this process.
std::mutex& one_heuristic_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

/// One of the library's descriptors, which the first call that fails leaves with an error.
class Descriptor {
 public:
  Descriptor(const Functions& functions, cudnnBackendDescriptorType_t type)
      : f_(&functions), status_(f_->make(type, &made_)) {}
  ~Descriptor() {
    if (made_ != nullptr) f_->unmake(made_);
  }
  Descriptor(Descriptor&& other) noexcept
      : f_(other.f_), made_(std::exchange(other.made_, nullptr)), status_(other.status_) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::initializer_list<T> values) {
    return set(name, type, static_cast<std::int64_t>(values.size()), values.begin());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::int64_t count, const void* values) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->set(made_, name, type, count, values);
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = other.status_;
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.made_);
  }
  Descriptor& finalize() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->finalize(made_);
    return *this;
  }
  bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }
  /// That it has no plan for what it was asked is no failure.
  bool unsupported() const {
    return CUDNN_STATUS_CATEGORY(static_cast<int>(status_)) == CUDNN_STATUS_NOT_SUPPORTED;
  }
  cudnnStatus_t status() const { return status_; }
  Result<void> checked(const char* what) const { return checked_by(*f_, status_, what); }
  cudnnBackendDescriptor_t get() const { return made_; }

 private:
  const Functions* f_;
  cudnnBackendDescriptor_t made_ = nullptr;
  cudnnStatus_t status_;
};

struct Handle {
  explicit Handle(const Functions& functions) : f(functions) {}
  ~Handle() {
    if (handle != nullptr) f.destroy(handle);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Functions f;
  cudnnHandle_t handle = nullptr;
};

// What tensors are called within a graph.
constexpr std::int64_t kA = 'a', kB = 'b', kOut = 'o';

/// {N, C, H, W} of channels-last memory.
Descriptor tensor(const Functions& f, std::int64_t id, cudnnDataType_t number,
                  const std::array<std::int64_t, 4>& shape) {
  const std::array<std::int64_t, 4> steps = {shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3],
                                             shape[1]};
  Descriptor made(f, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {number})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, shape.data())
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, steps.data())
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {id})
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {kAlignment})
      .finalize();
  return made;
}

/// The names of one pass's attributes.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

PassNames names_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::forward:
      break;
    case ConvolutionPass::data:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionPass::weights:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
}

/// What each of a pass's three tensors is called: a, b or out.
struct Roles {
  std::int64_t x, w, y;
};
Roles roles_of(ConvolutionPass pass) {
  if (pass == ConvolutionPass::forward) return {kA, kB, kOut};
  if (pass == ConvolutionPass::data) return {kOut, kB, kA};
  return {kA, kOut, kB};
}

/// Whether as much padding after the last row or column as before the first makes as many windows:
/// for other paddings there are but slow plans.
bool pads_evenly(std::uint32_t out, std::uint32_t stride, std::uint32_t kernel,
                 std::uint32_t before, std::uint32_t extent) {
  const std::int64_t left = std::int64_t{extent} + 2 * std::int64_t{before} - kernel;
  return left >= 0 && left / stride + 1 == out;
}

class Convolution final : public CudaOperation {
 public:
  explicit Convolution(Handle& handle) : handle_(handle) {}

  /// Whether there is a plan. Of bf16s one that makes what is wanted is preferred to one that does
  /// not, and both to the library's last resort.
  Result<bool> make(const ConvolutionShape& shape) {
    const Windows& w = shape.windows;
    if (!pads_evenly(w.out_rows, w.stride, w.kernel_rows, w.rows_before, w.rows) ||
        !pads_evenly(w.out_columns, w.stride, w.kernel_columns, w.columns_before, w.columns)) {
      return false;
    }
    // B knows best: its first plans take half and, in TF32, a quarter of the time of A's.
    for (const Heuristics& some :
         {Heuristics{CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A}, {CUDNN_HEUR_MODE_FALLBACK}}) {
      for (const bool makes_bf16s : {shape.to_bf16s, !shape.to_bf16s}) {
        if (makes_bf16s && shape.arithmetic != Arithmetic::bf16) continue;
        STERNA_ASSIGN(const bool found, plan(shape, makes_bf16s, some));
        if (!found) continue;
        makes_bf16s_ = makes_bf16s;
        return true;
      }
    }
    return false;
  }

  std::size_t workspace() const noexcept override { return workspace_; }
  std::string name() const noexcept override {
    return "cuDNN engine " + std::to_string(engine_) + (makes_bf16s_ ? " to bf16" : "");
  }
  bool makes_bf16s() const noexcept override { return makes_bf16s_; }

  Result<void> run(const OperationTensors& tensors, CUstream_st* stream) noexcept override {
    const Functions& f = handle_.f;
    const void* const places[] = {tensors.a, tensors.b, tensors.out};
    const std::int64_t ids[] = {kA, kB, kOut};
    Descriptor pack(f, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, places)
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {tensors.workspace})
        .finalize();
    STERNA_TRY(pack.checked("a pack of cuDNN's"));
    cudnnStatus_t status = f.set_stream(handle_.handle, stream);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = f.execute(handle_.handle, plan_.front().get(), pack.get());
    }
    return checked_by(f, status, "cudnnBackendExecute");
  }

 private:
  using Heuristics = std::vector<cudnnBackendHeurMode_t>;

  /// Whether one of them has a plan, which `makes_bf16s` or fp32s.
  Result<bool> plan(const ConvolutionShape& shape, bool makes_bf16s, const Heuristics& heuristics) {
    const Functions& f = handle_.f;
    const Windows& w = shape.windows;
    const PassNames names = names_of(shape.pass);
    const Roles roles = roles_of(shape.pass);
    const bool bf16s = shape.arithmetic == Arithmetic::bf16;
    const auto tensor_of = [&](std::int64_t role, const std::array<std::int64_t, 4>& sizes) {
      const bool stores_bf16s = role == kOut ? makes_bf16s : bf16s;
      return tensor(f, role, stores_bf16s ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT, sizes);
    };
    const Descriptor x = tensor_of(roles.x, {w.images, w.channels, w.rows, w.columns});
    const Descriptor weights = tensor_of(
        roles.w, {shape.out_channels, w.channels / shape.groups, w.kernel_rows, w.kernel_columns});
    const Descriptor y =
        tensor_of(roles.y, {w.images, shape.out_channels, w.out_rows, w.out_columns});
    const std::int64_t stride = w.stride, top = w.rows_before, left = w.columns_before;
    Descriptor convolution(f, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
             {CUDNN_CROSS_CORRELATION})
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, {std::int64_t{2}})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, {top, left})
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, {top, left})
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, {std::int64_t{1}, std::int64_t{1}})
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, {stride, stride})
        .finalize();
    Descriptor operation(f, names.type);
    operation.set(names.x, x)
        .set(names.w, weights)
        .set(names.y, y)
        .set(names.convolution, convolution)
        .set(names.alpha, CUDNN_TYPE_FLOAT, {1.0F})
        .set(names.beta, CUDNN_TYPE_FLOAT, {0.0F})
        .finalize();
    const cudnnBackendDescriptor_t only = operation.get();
    Descriptor graph(f, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {handle_.handle})
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, {only})
        .finalize();
    for (const Descriptor* one :
         {&x, &weights, &y, static_cast<const Descriptor*>(&convolution),
          static_cast<const Descriptor*>(&operation), static_cast<const Descriptor*>(&graph)}) {
      if (one->unsupported()) return false;
      // No wrong call: of bf16s products do what it does not.
      if (!one->ok() && bf16s && !lacks_memory(one->status())) return false;
      STERNA_TRY(one->checked("a graph of cuDNN's"));
    }
    for (const cudnnBackendHeurMode_t heuristic : heuristics) {
      STERNA_ASSIGN(const bool found, choose(graph, heuristic, shape.arithmetic));
      if (found) return true;
    }
    return false;
  }

  /// The first of a heuristic's plans whose bits are the same each time, and of the arithmetic.
  Result<bool> choose(const Descriptor& graph, cudnnBackendHeurMode_t mode, Arithmetic arithmetic) {
    const Functions& f = handle_.f;
    Descriptor heuristic(f, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {mode});
    {
      const std::lock_guard alone(one_heuristic_at_a_time());
      heuristic.finalize();
    }
    if (has_nothing(heuristic.status())) return false;
    STERNA_TRY(heuristic.checked("a heuristic of cuDNN's"));
    std::int64_t count = 0;
    STERNA_ASSIGN(const bool lists, has(f.get(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr)));
    if (!lists) return false;
    count = std::min(count, kMostPlans);
    std::vector<Descriptor> configurations;
    std::vector<cudnnBackendDescriptor_t> places;
    for (std::int64_t i = 0; i < count; ++i) {
      configurations.emplace_back(f, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      STERNA_TRY(configurations.back().checked("a configuration of cuDNN's"));
      places.push_back(configurations.back().get());
    }
    std::int64_t found = 0;
    STERNA_ASSIGN(const bool listed,
                  has(f.get(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &found, places.data())));
    if (!listed) return false;
    for (std::int64_t i = 0; i < std::min(found, count); ++i) {  // it may have more than it gave
      STERNA_ASSIGN(const bool made, make(configurations[static_cast<std::size_t>(i)], arithmetic));
      if (made) return true;
    }
    return false;
  }

  /// Whether a configuration is one that may be used, and makes a plan.
  Result<bool> make(const Descriptor& configuration, Arithmetic arithmetic) {
    const Functions& f = handle_.f;
    std::int64_t engine = 0;
    STERNA_ASSIGN(const bool may, suits(configuration, arithmetic, engine));
    if (!may) return false;
    Descriptor plan(f, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {handle_.handle})
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
        .finalize();
    if (has_nothing(plan.status())) return false;
    STERNA_TRY(plan.checked("a plan of cuDNN's"));
    std::int64_t bytes = 0;
    std::int64_t got = 0;
    STERNA_ASSIGN(const bool says, has(f.get(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                             CUDNN_TYPE_INT64, 1, &got, &bytes)));
    if (!says || bytes < 0 || static_cast<std::size_t>(bytes) > kMostWorkspace) return false;
    workspace_ = static_cast<std::size_t>(bytes);
    engine_ = engine;
    plan_.push_back(std::move(plan));
    return true;
  }

  /// `number`: of its engine, where it does.
  Result<bool> suits(const Descriptor& configuration, Arithmetic arithmetic,
                     std::int64_t& number) const {
    const Functions& f = handle_.f;
    Descriptor engine(f, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    STERNA_TRY(engine.checked("an engine of cuDNN's"));
    cudnnBackendDescriptor_t place = engine.get();
    std::int64_t got = 0;
    STERNA_ASSIGN(const bool named, has(f.get(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &place)));
    if (!named) return false;
    std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
    std::int64_t noted = 0;
    STERNA_ASSIGN(
        const bool says,
        has(f.get(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                  CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &noted, notes.data())));
    if (!says) return false;
    const std::size_t known =
        std::min(static_cast<std::size_t>(std::max<std::int64_t>(noted, 0)), notes.size());
    for (std::size_t i = 0; i < known; ++i) {
      switch (notes[i]) {
        case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
          return false;
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
          if (arithmetic == Arithmetic::fp32) return false;
          break;
        case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:  // to fp16, perhaps, which ends at 65,504
          if (arithmetic != Arithmetic::bf16) return false;
          break;
        case CUDNN_NUMERICAL_NOTE_WINOGRAD:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
          if (arithmetic == Arithmetic::bf16) return false;  // it rounds what it has transformed
          break;
        default:
          break;
      }
    }
    return has(
        f.get(engine.get(), CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &got, &number));
  }

  /// Whether it has what it was asked for.
  Result<bool> has(cudnnStatus_t status) const {
    if (has_nothing(status)) return false;
    STERNA_TRY(checked_by(handle_.f, status, "cudnnBackendGetAttribute"));
    return true;
  }

  Handle& handle_;
  std::vector<Descriptor> plan_;  // the one, once there is one
  std::int64_t engine_ = 0;
  bool makes_bf16s_ = false;
  std::size_t workspace_ = 0;
};

class Opened final : public Cudnn {
 public:
  explicit Opened(const Functions& functions) : handle_(functions) {}

  Result<void> start() {
    return checked_by(handle_.f, handle_.f.create(&handle_.handle), "cudnnCreate");
  }
  Result<std::unique_ptr<DeviceOperation>> plan(const ConvolutionShape& shape) override {
    auto convolution = std::make_unique<Convolution>(handle_);
    STERNA_ASSIGN(const bool made, convolution->make(shape));
    if (!made) return std::unique_ptr<DeviceOperation>();
    return std::unique_ptr<DeviceOperation>(std::move(convolution));
  }

 private:
  Handle handle_;
};

}  // namespace

Result<std::unique_ptr<Cudnn>> Cudnn::open(int device) {
  STERNA_ASSIGN(const Functions functions, load());
  STERNA_TRY(checked(cudaSetDevice(device), "cudaSetDevice", device));
  auto opened = std::make_unique<Opened>(functions);
  STERNA_TRY(opened->start());
  return std::unique_ptr<Cudnn>(std::move(opened));
}

}  // namespace sterna::kernels
