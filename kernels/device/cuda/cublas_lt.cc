#include "kernels/device/cuda/cublas_lt.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/device/cuda/cuda_error.h"
#include "kernels/device/library.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20U;
constexpr std::uint32_t kAlignment = 16;

/// What of the library is called.
struct Functions {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algo_get = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
};

Result<Functions> load() {
  STERNA_ASSIGN(void* const library, open_libraries({kCublasLt}, library_places()));
  Functions f;
  const bool all =
      find_function(library, "cublasLtCreate", f.create) &&
      find_function(library, "cublasLtDestroy", f.destroy) &&
      find_function(library, "cublasLtMatmulDescCreate", f.desc_create) &&
      find_function(library, "cublasLtMatmulDescDestroy", f.desc_destroy) &&
      find_function(library, "cublasLtMatmulDescSetAttribute", f.desc_set) &&
      find_function(library, "cublasLtMatrixLayoutCreate", f.layout_create) &&
      find_function(library, "cublasLtMatrixLayoutDestroy", f.layout_destroy) &&
      find_function(library, "cublasLtMatmulPreferenceCreate", f.preference_create) &&
      find_function(library, "cublasLtMatmulPreferenceDestroy", f.preference_destroy) &&
      find_function(library, "cublasLtMatmulPreferenceSetAttribute", f.preference_set) &&
      find_function(library, "cublasLtMatmulAlgoGetHeuristic", f.heuristic) &&
      find_function(library, "cublasLtMatmulAlgoConfigGetAttribute", f.algo_get) &&
      find_function(library, "cublasLtMatmul", f.matmul);
  if (!all) {
    return Error{Errc::unavailable,
                 std::string(kCublasLt) + " lacks functions of cuBLASLt 13; install that"};
  }
  return f;
}

/// Errors: overloaded, where memory is lacking; else unavailable.
Result<void> checked_lt(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    return Error{Errc::overloaded, std::string(what) + ": no memory is free"};
  }
  return Error{Errc::unavailable,
               std::string(what) + ": error " + std::to_string(static_cast<int>(status))};
}

/// What one call of the library's makes and another destroys.
template <class T>
class Owned {
 public:
  explicit Owned(cublasStatus_t (*destroy)(T)) : destroy_(destroy) {}
  ~Owned() {
    if (made != nullptr) destroy_(made);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T made = nullptr;

 private:
  cublasStatus_t (*destroy_)(T);
};

/// A matrix as column-major memory that is read as it lies, or transposed.
struct Operand {
  bool transposed = false;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
};

/// Of the matrix whose element (row, column) lies at row * by_row + column * by_column.
bool operand_of(std::size_t rows, std::size_t columns, std::size_t by_row, std::size_t by_column,
                Operand& operand) {
  if (by_row == 1 && by_column != 0) {
    operand = {false, rows, columns, static_cast<std::int64_t>(std::max(by_column, rows))};
    return true;
  }
  if (by_column != 1 || by_row == 0) return false;
  operand = {true, columns, rows, static_cast<std::int64_t>(std::max(by_row, columns))};
  return true;
}

class Product final : public CudaOperation {
 public:
  Product(const Functions& functions, cublasLtHandle_t handle)
      : f_(functions),
        handle_(handle),
        desc_(f_.desc_destroy),
        left_(f_.layout_destroy),
        right_(f_.layout_destroy),
        out_(f_.layout_destroy) {}

  /// Whether there is a plan. What is row-major for us is for the library the transposed matrix,
  /// column-major: out' = b' a'.
  Result<bool> make(const ProductShape& shape) {
    const ProductLaunch& of = shape.launch;
    Operand left, right;
    if (!operand_of(of.columns, of.depth, of.b.column, of.b.row, left) ||
        !operand_of(of.depth, of.rows, of.a.column, of.a.row, right)) {
      return false;
    }
    const cublasComputeType_t compute =
        shape.arithmetic == Arithmetic::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    STERNA_TRY(checked_lt(f_.desc_create(&desc_.made, compute, CUDA_R_32F), "cublasLtMatmulDesc"));
    STERNA_TRY(set(CUBLASLT_MATMUL_DESC_TRANSA, operation_of(left)));
    STERNA_TRY(set(CUBLASLT_MATMUL_DESC_TRANSB, operation_of(right)));
    biased_ = of.bias != nullptr;
    if (biased_) STERNA_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS));
    const std::size_t out_row = of.out_row != 0 ? of.out_row : of.columns;
    const cudaDataType_t number = shape.arithmetic == Arithmetic::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    STERNA_TRY(layout(left_, left, number));
    STERNA_TRY(layout(right_, right, number));
    makes_bf16s_ = of.out.bf16s;
    STERNA_TRY(layout(out_, {false, of.columns, of.rows, static_cast<std::int64_t>(out_row)},
                      makes_bf16s_ ? CUDA_R_16BF : CUDA_R_32F));
    return choose();
  }

  std::size_t workspace() const noexcept override { return workspace_; }
  std::string name() const noexcept override {
    return "cuBLASLt algorithm " + std::to_string(algorithm_) + (makes_bf16s_ ? " to bf16" : "");
  }
  bool makes_bf16s() const noexcept override { return makes_bf16s_; }

  Result<void> run(const OperationTensors& tensors, CUstream_st* stream) noexcept override {
    const float one = 1;
    const float zero = 0;
    if (biased_ && tensors.bias != bias_) {  // the description holds the address
      STERNA_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, tensors.bias));
      bias_ = tensors.bias;
    }
    return checked_lt(f_.matmul(handle_, desc_.made, &one, tensors.b, left_.made, tensors.a,
                                right_.made, &zero, tensors.out, out_.made, tensors.out, out_.made,
                                &plan_, tensors.workspace, workspace_, stream),
                      "cublasLtMatmul");
  }

 private:
  static cublasOperation_t operation_of(const Operand& operand) {
    return operand.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  template <class T>
  Result<void> set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    return checked_lt(f_.desc_set(desc_.made, attribute, &value, sizeof(value)),
                      "cublasLtMatmulDescSetAttribute");
  }
  Result<void> layout(Owned<cublasLtMatrixLayout_t>& made, const Operand& of,
                      cudaDataType_t number) const {
    return checked_lt(f_.layout_create(&made.made, number, of.rows, of.columns, of.leading),
                      "cublasLtMatrixLayoutCreate");
  }

  /// The first that the library's heuristic names: it has no say in bits but by that.
  Result<bool> choose() {
    Owned<cublasLtMatmulPreference_t> preference(f_.preference_destroy);
    STERNA_TRY(checked_lt(f_.preference_create(&preference.made), "cublasLtMatmulPreference"));
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      return checked_lt(f_.preference_set(preference.made, attribute, &value, sizeof(value)),
                        "cublasLtMatmulPreferenceSetAttribute");
    };
    STERNA_TRY(prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMostWorkspace}));
    if (makes_bf16s_) {  // parts of a sum are not rounded to what comes out
      STERNA_TRY(prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                        std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}));
    }
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      STERNA_TRY(prefer(attribute, kAlignment));
    }
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status =
        f_.heuristic(handle_, desc_.made, left_.made, right_.made, out_.made, out_.made,
                     preference.made, 1, &found, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0)) {
      return false;
    }
    STERNA_TRY(checked_lt(status, "cublasLtMatmulAlgoGetHeuristic"));
    // What it names has a state of its own.
    if (found.state == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    STERNA_TRY(checked_lt(found.state, "an algorithm of cuBLASLt's"));
    plan_ = found.algo;
    workspace_ = found.workspaceSize;
    std::size_t written = 0;
    f_.algo_get(&plan_, CUBLASLT_ALGO_CONFIG_ID, &algorithm_, sizeof(algorithm_), &written);
    return true;
  }

  const Functions& f_;
  cublasLtHandle_t handle_;
  Owned<cublasLtMatmulDesc_t> desc_;
  Owned<cublasLtMatrixLayout_t> left_;
  Owned<cublasLtMatrixLayout_t> right_;
  Owned<cublasLtMatrixLayout_t> out_;
  bool biased_ = false;
  bool makes_bf16s_ = false;
  const float* bias_ = nullptr;
  cublasLtMatmulAlgo_t plan_{};
  int algorithm_ = 0;
  std::size_t workspace_ = 0;
};

class Handle final : public CublasLt {
 public:
  explicit Handle(const Functions& functions) : functions_(functions) {}
  ~Handle() override {
    if (handle_ != nullptr) functions_.destroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Result<void> start() { return checked_lt(functions_.create(&handle_), "cublasLtCreate"); }
  Result<std::unique_ptr<DeviceOperation>> plan(const ProductShape& shape) override {
    auto product = std::make_unique<Product>(functions_, handle_);
    STERNA_ASSIGN(const bool made, product->make(shape));
    if (!made) return std::unique_ptr<DeviceOperation>();
    return std::unique_ptr<DeviceOperation>(std::move(product));
  }

 private:
  Functions functions_;
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<CublasLt>> CublasLt::open(int device) {
  STERNA_ASSIGN(const Functions functions, load());
  STERNA_TRY(checked(cudaSetDevice(device), "cudaSetDevice", device));
  auto handle = std::make_unique<Handle>(functions);
  STERNA_TRY(handle->start());
  return std::unique_ptr<CublasLt>(std::move(handle));
}

}  // namespace sterna::kernels
