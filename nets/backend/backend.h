// What computes: a Backend makes operations for fixed shapes, and layers run them.
//
// An operation is made once and run many times; it owns whatever its library needs (primitives,
// reordered weights, workspaces). In the operations' comments x is the input, y the output, d? the
// gradient of the loss by ?, and N, C, H, W are batch, channels, height and width. Tensors have
// exactly the shapes and layouts that the operation was made for; whoever calls sees to that.
//
// A backend and its operations belong to one thread at a time; several backends in several threads
// do not disturb each other. Operations must not outlive their backend. What a library throws
// passes through: Net turns it into an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nets/tensor/element.h"

namespace sterna::kernels {
class Device;
}  // namespace sterna::kernels

namespace sterna::nets {

struct BackendOptions {
  std::string name = "onednn";  ///< one of backend_names()
  /// Compute threads: part of what a result's bits depend on, so never guessed from the machine.
  int threads = 1;
  /// The highest instruction set that may be used, which results' bits depend on too: "best" (what
  /// the CPU has), "avx512", "avx2" or "scalar".
  std::string isa = "best";
  /// What operations' activations may be, and are in nets. With bf16 "avx512" includes the
  /// instructions that compute with it, and excludes AMX. Of "device" they are that: products and
  /// convolutions multiply nothing else.
  Element precision = Element::fp32;
  /// Of "device": what computes. Threads and instruction set are its own matter.
  std::shared_ptr<kernels::Device> device = nullptr;
  /// Of "device" with fp32: products and convolutions round what they multiply to TF32.
  bool tf32 = false;
};

/// Each operation's interface lies in a header of its own, which who makes or runs one includes.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<class Convolution> convolution(const struct ConvolutionSpec& spec) = 0;
  virtual std::unique_ptr<class InnerProduct> inner_product(
      const struct InnerProductSpec& spec) = 0;
  virtual std::unique_ptr<class MaxPool> max_pool(const struct MaxPoolSpec& spec) = 0;
  virtual std::unique_ptr<class Eltwise> eltwise(const struct EltwiseSpec& spec) = 0;
  virtual std::unique_ptr<class RectifiedSum> rectified_sum(
      const struct RectifiedSumSpec& spec) = 0;
  virtual std::unique_ptr<class BatchNorm> batch_norm(const struct BatchNormSpec& spec) = 0;
  virtual std::unique_ptr<class Lrn> lrn(const struct LrnSpec& spec) = 0;
  virtual std::unique_ptr<class AveragePool> average_pool(const struct AveragePoolSpec& spec) = 0;
  virtual std::unique_ptr<class Dropout> dropout(const struct DropoutSpec& spec) = 0;
  virtual std::unique_ptr<class Relayout> relayout(const struct RelayoutSpec& spec) = 0;
  virtual std::unique_ptr<class Loss> loss(const struct LossSpec& spec) = 0;
  virtual std::unique_ptr<class Decay> decay(const struct DecaySpec& spec) = 0;
  /// Of the net's whole table, whose parameters have so many elements each.
  virtual std::unique_ptr<class ParameterVersions> parameter_versions(
      std::span<const std::size_t> elements) = 0;
  /// Null: it computes at once, and has nothing to put anywhere.
  virtual std::unique_ptr<class RepeatedPass> repeated_pass() = 0;
  /// Where all its tensors lie.
  virtual class Memory& memory() = 0;
  /// Copies between formats since the backend was made: work that is not arithmetic.
  virtual std::uint64_t reorders() const = 0;
  /// Of the library's work: the names that it gives to what it runs, one for each of its parts.
  virtual std::vector<std::string> implementations() const = 0;
};

}  // namespace sterna::nets
