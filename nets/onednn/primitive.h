// What the operations of a OneDnnBackend are made of. Only this room's .cc files include it.
#pragma once

#include <dnnl.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/isa/isa.h"
#include "nets/onednn/onednn_backend.h"
#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"
#include "runtime/base/bytes.h"

namespace sterna::nets {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Descriptor = dnnl::memory::desc;

inline Descriptor describe(const Dims& dims, Tag tag, Element element = Element::fp32) {
  using Type = dnnl::memory::data_type;
  return {dims, element == Element::bf16 ? Type::bf16 : Type::f32, tag};
}

inline Dims dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// Of a window over {N, C, H, W}, as the library wants it said.
struct WindowDims {
  explicit WindowDims(const Window& window, const Shape& input)
      : kernel(dims_of({window.down().kernel, window.across().kernel})),
        strides(dims_of({window.down().stride, window.across().stride})),
        before(dims_of({window.down().before(input[2]), window.across().before(input[3])})),
        after(dims_of({window.down().after(input[2]), window.across().after(input[3])})),
        out(dims_of({window.down().out(input[2]), window.across().out(input[3])})) {}
  Dims kernel, strides, before, after, out;
};

/// With a scratchpad of ours: see OneDnnBackend::Context.
dnnl::primitive_attr attributes();

/// What kernels of ours may use: what oneDNN does.
kernels::Isa usable_isa();

/// Holds the calling thread's OpenMP team at a size, which is that thread's own setting.
class TeamSize {
 public:
  explicit TeamSize(int threads);
  ~TeamSize();
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

/// What the operations of one backend share.
struct OneDnnBackend::Context {
  explicit Context(int team) : threads(team) {}
  int threads;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::uint64_t reorders = 0;
  std::vector<std::string> implementations;
  /// One scratchpad for all, ours: the library's belongs to the thread that made the primitive,
  /// and a net may be made in one thread and run in another.
  Buffer scratch{0};

  void reserve_scratch(std::size_t size) {
    if (size > scratch.size()) scratch = Buffer(size);
  }
};

/// A primitive with its arguments: bound once where the operation owns them, per run where the
/// caller does.
class Primitive {
 public:
  template <class PrimitiveDescriptor>
  Primitive(OneDnnBackend::Context& context, const PrimitiveDescriptor& descriptor,
            dnnl::primitive primitive)
      : context_(context),
        primitive_(std::move(primitive)),
        scratch_size_(descriptor.scratchpad_desc().get_size()) {
    context_.reserve_scratch(scratch_size_);
    context_.implementations.emplace_back(descriptor.impl_info_str());
    if (scratch_size_ > 0) add(DNNL_ARG_SCRATCHPAD, descriptor.scratchpad_desc());
  }
  /// An argument that the caller binds.
  Primitive& add(int argument, const Descriptor& descriptor) {
    arguments_.emplace(argument, dnnl::memory(descriptor, context_.engine, DNNL_MEMORY_NONE));
    return *this;
  }
  /// An argument that the operation owns.
  Primitive& add(int argument, const dnnl::memory& owned) {
    arguments_.emplace(argument, owned);
    return *this;
  }
  Primitive& bind(int argument, const Tensor& tensor) {
    return bind_memory(argument, tensor.memory());
  }
  Primitive& bind_memory(int argument, const void* memory) {
    // oneDNN's handles are not const; inputs are only read.
    arguments_.at(argument).set_data_handle(const_cast<void*>(memory));
    return *this;
  }
  void run();

 private:
  OneDnnBackend::Context& context_;
  dnnl::primitive primitive_;
  std::size_t scratch_size_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

/// A copy from one format to another, counted.
class Reorder {
 public:
  Reorder(OneDnnBackend::Context& context, const Descriptor& from, const Descriptor& to);
  void run(const void* from, void* to);

 private:
  OneDnnBackend::Context& context_;
  Primitive primitive_;
};

}  // namespace sterna::nets
