#include "kernels/device/host_operations.h"

#include <cstring>
#include <vector>

#include "kernels/device/host_layers.h"
#include "kernels/sums/bf16.h"

namespace sterna::kernels {
namespace {

/// Of which nobody else may make use meanwhile: it is overwritten, as a library's would be.
constexpr std::size_t kWorkspace = 256;

/// Numbers that are multiplied, as an arithmetic sees them: where they lie, or copies that it
/// rounds or widens.
class Operand {
 public:
  Operand(const void* place, std::size_t count, Arithmetic arithmetic)
      : values_(static_cast<const float*>(place)) {
    if (arithmetic == Arithmetic::fp32) return;
    const auto* const bf16s = static_cast<const std::uint16_t*>(place);
    copies_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      copies_.push_back(arithmetic == Arithmetic::bf16 ? from_bf16(bf16s[i]) : to_tf32(values_[i]));
    }
    values_ = copies_.data();
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() = default;
  const float* values() const { return values_; }

 private:
  std::vector<float> copies_;
  const float* values_;
};

class Product final : public HostOperation {
 public:
  explicit Product(const ProductShape& shape)
      : launch_(shape.launch), arithmetic_(shape.arithmetic) {}
  std::size_t workspace() const noexcept override { return kWorkspace; }
  std::string name() const noexcept override { return "the host's product"; }
  void run(const OperationTensors& tensors) const override {
    std::memset(tensors.workspace, 0xFF, kWorkspace);
    ProductLaunch launch = launch_;
    const Operand a(tensors.a, extent(launch.a, launch.rows, launch.depth), arithmetic_);
    const Operand b(tensors.b, extent(launch.b, launch.depth, launch.columns), arithmetic_);
    launch.a.data = a.values();
    launch.b.data = b.values();
    launch.bias = tensors.bias;
    launch.out = {tensors.out, makes_bf16s()};
    host_layer(launch);
  }
  bool makes_bf16s() const noexcept override { return launch_.out.bf16s; }

 private:
  /// Elements from a matrix's first to behind its last.
  static std::size_t extent(const MatrixView& of, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return 0;
    return (rows - 1) * of.row + (columns - 1) * of.column + 1;
  }

  ProductLaunch launch_;
  Arithmetic arithmetic_;
};

class Convolution final : public HostOperation {
 public:
  explicit Convolution(const ConvolutionShape& shape)
      : shape_(shape),
        of_{shape.windows.channels / shape.groups, shape.out_channels / shape.groups} {}
  std::size_t workspace() const noexcept override { return kWorkspace; }
  std::string name() const noexcept override { return "the host's convolution"; }
  bool makes_bf16s() const noexcept override {
    const bool as_wanted = shape_.out_channels % 2 == 0;  // a library may have no such plan
    return shape_.arithmetic == Arithmetic::bf16 && shape_.to_bf16s == as_wanted;
  }
  void run(const OperationTensors& given) const override {
    std::memset(given.workspace, 0xFF, kWorkspace);
    const Windows& w = shape_.windows;
    const std::size_t inputs = std::size_t{w.images} * w.rows * w.columns * w.channels;
    const std::size_t outputs =
        std::size_t{w.images} * w.out_rows * w.out_columns * shape_.out_channels;
    const std::size_t weights =
        std::size_t{shape_.out_channels} * w.kernel_rows * w.kernel_columns * of_.channels;
    const bool back = shape_.pass == ConvolutionPass::data;
    const bool of_weights = shape_.pass == ConvolutionPass::weights;
    const Operand left(given.a, back ? outputs : inputs, shape_.arithmetic);
    const Operand right(given.b, of_weights ? outputs : weights, shape_.arithmetic);
    const float* const a = left.values();
    const float* const b = right.values();
    switch (shape_.pass) {
      case ConvolutionPass::forward:
        return sum(given.out, outputs, [&](float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) { out[y] += a[x] * b[k]; });
        });
      case ConvolutionPass::data:
        return sum(given.out, inputs, [&](float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) { out[x] += a[y] * b[k]; });
        });
      case ConvolutionPass::weights:
        return sum(given.out, weights, [&](float* out) {
          for_all([&](std::size_t x, std::size_t k, std::size_t y) { out[k] += a[x] * b[y]; });
        });
    }
  }

 private:
  /// Calls add(sums), which begin at 0; they end at `place`, there as bf16s where it rounds.
  template <class Add>
  void sum(void* place, std::size_t count, Add add) const {
    if (!makes_bf16s()) {
      std::memset(place, 0, count * sizeof(float));
      return add(static_cast<float*>(place));
    }
    std::vector<float> sums(count);
    add(sums.data());
    auto* const out = static_cast<std::uint16_t*>(place);
    for (std::size_t i = 0; i < count; ++i) out[i] = to_bf16(sums[i]);
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
