#include "kernels/device/host_operations.h"

#include <cstring>
#include <vector>

#include "kernels/device/host_layers.h"
#include "kernels/sums/bf16.h"

namespace sterna::kernels {
namespace {

/// Of which nobody else may make use meanwhile: it is overwritten, as a library's would be.
constexpr std::size_t kWorkspace = 256;

class Product final : public HostOperation {
 public:
  explicit Product(const ProductShape& shape)
      : launch_(shape.launch), bf16s_(shape.arithmetic == Arithmetic::bf16) {}
  std::size_t workspace() const noexcept override { return kWorkspace; }
  std::string name() const noexcept override { return "the host's product"; }
  void run(const OperationTensors& tensors) const override {
    std::memset(tensors.workspace, 0xFF, kWorkspace);
    ProductLaunch launch = launch_;
    put(launch.a, tensors.a);
    put(launch.b, tensors.b);
    launch.bias = tensors.bias;
    launch.out = static_cast<float*>(tensors.out);
    host_layer(launch);
  }

 private:
  void put(MatrixView& matrix, const void* place) const {
    matrix.data = bf16s_ ? nullptr : static_cast<const float*>(place);
    matrix.bf16s = bf16s_ ? static_cast<const std::uint16_t*>(place) : nullptr;
  }

  ProductLaunch launch_;
  bool bf16s_;
};

class Convolution final : public HostOperation {
 public:
  explicit Convolution(const ConvolutionShape& shape)
      : shape_(shape),
        of_{shape.windows.channels / shape.groups, shape.out_channels / shape.groups} {}
  std::size_t workspace() const noexcept override { return kWorkspace; }
  std::string name() const noexcept override { return "the host's convolution"; }
  bool rounds() const noexcept override {
    return shape_.arithmetic == Arithmetic::bf16 && shape_.out_channels % 2 != 0;  // as one may
  }
  void run(const OperationTensors& given) const override {
    std::memset(given.workspace, 0xFF, kWorkspace);
    const Windows& w = shape_.windows;
    const std::size_t inputs = std::size_t{w.images} * w.rows * w.columns * w.channels;
    const std::size_t outputs =
        std::size_t{w.images} * w.out_rows * w.out_columns * shape_.out_channels;
    const std::size_t weights =
        std::size_t{shape_.out_channels} * w.kernel_rows * w.kernel_columns * of_.channels;
    switch (shape_.pass) {
      case ConvolutionPass::forward:
        return run_on(given, {inputs, weights, outputs}, [&](const Fp32s& tensors, float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) {
            out[y] += tensors.a[x] * tensors.b[k];
          });
        });
      case ConvolutionPass::data:
        return run_on(given, {outputs, weights, inputs}, [&](const Fp32s& tensors, float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) {
            out[x] += tensors.a[y] * tensors.b[k];
          });
        });
      case ConvolutionPass::weights:
        return run_on(given, {inputs, outputs, weights}, [&](const Fp32s& tensors, float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) {
            out[k] += tensors.a[x] * tensors.b[y];
          });
        });
    }
  }

 private:
  struct Sizes {
    std::size_t a, b, out;
  };
  struct Fp32s {
    const float* a;
    const float* b;
  };

  /// Calls add(operands, sums), whose sums begin at 0; both as fp32s, whatever is given or made.
  template <class Add>
  void run_on(const OperationTensors& given, const Sizes& sizes, Add add) const {
    if (shape_.arithmetic != Arithmetic::bf16) {
      auto* const out = static_cast<float*>(given.out);
      std::memset(out, 0, sizes.out * sizeof(float));
      return add({static_cast<const float*>(given.a), static_cast<const float*>(given.b)}, out);
    }
    const std::vector<float> a = widened(given.a, sizes.a), b = widened(given.b, sizes.b);
    std::vector<float> sums(sizes.out);
    add({a.data(), b.data()}, sums.data());
    if (!rounds()) {
      std::memcpy(given.out, sums.data(), sizes.out * sizeof(float));
      return;
    }
    auto* const out = static_cast<std::uint16_t*>(given.out);
    for (std::size_t i = 0; i < sizes.out; ++i) out[i] = to_bf16(sums[i]);
  }
  static std::vector<float> widened(const void* bf16s, std::size_t count) {
    std::vector<float> numbers;
    numbers.reserve(count);
    const auto* const stored = static_cast<const std::uint16_t*>(bf16s);
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(from_bf16(stored[i]));
    return numbers;
  }

  /// Of a group.
  struct Group {
    std::uint32_t channels;
    std::uint32_t outputs;
  };

  /// Calls visit(input, weight, output) for all that meet.
  template <class Visit>
  void for_all(Visit visit) const {
    const Windows& w = shape_.windows;
    for (std::uint32_t image = 0; image < w.images; ++image) {
      for (std::uint32_t row = 0; row < w.out_rows; ++row) {
        for (std::uint32_t column = 0; column < w.out_columns; ++column) {
          for_window(image, row, column, visit);
        }
      }
    }
  }
  template <class Visit>
  void for_window(std::uint32_t image, std::uint32_t row, std::uint32_t column, Visit visit) const {
    const Windows& w = shape_.windows;
    const std::size_t y =
        ((std::size_t{image} * w.out_rows + row) * w.out_columns + column) * shape_.out_channels;
    for (std::uint32_t i = 0; i < w.kernel_rows; ++i) {
      const std::uint32_t from_row = row * w.stride + i - w.rows_before;  // wraps above the image
      for (std::uint32_t j = 0; j < w.kernel_columns; ++j) {
        const std::uint32_t from_column = column * w.stride + j - w.columns_before;
        if (from_row >= w.rows || from_column >= w.columns) continue;
        const std::size_t x =
            ((std::size_t{image} * w.rows + from_row) * w.columns + from_column) * w.channels;
        for (std::uint32_t k = 0; k < shape_.out_channels; ++k) {
          const std::size_t weight =
              ((std::size_t{k} * w.kernel_rows + i) * w.kernel_columns + j) * of_.channels;
          const std::size_t first = x + std::size_t{k / of_.outputs} * of_.channels;
          for (std::uint32_t c = 0; c < of_.channels; ++c) visit(first + c, weight + c, y + k);
        }
      }
    }
  }

  ConvolutionShape shape_;
  Group of_;
};

}  // namespace

std::unique_ptr<DeviceOperation> host_product(const ProductShape& shape) {
  return std::make_unique<Product>(shape);
}

std::unique_ptr<DeviceOperation> host_convolution(const ConvolutionShape& shape) {
  // As a library may, it wants as much padding after an image as before it.
  const Windows& w = shape.windows;
  const auto even = [&](std::uint32_t out, std::uint32_t kernel, std::uint32_t before,
                        std::uint32_t extent) {
    return extent + 2 * before >= kernel && (extent + 2 * before - kernel) / w.stride + 1 == out;
  };
  if (!even(w.out_rows, w.kernel_rows, w.rows_before, w.rows) ||
      !even(w.out_columns, w.kernel_columns, w.columns_before, w.columns)) {
    return nullptr;
  }
  return std::make_unique<Convolution>(shape);
}

}  // namespace sterna::kernels
