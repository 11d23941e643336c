#include "nets/cpu/rectified_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/sums/bf16.h"
#include "nets/cpu/own_relu.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

class Fp32Sum final : public RectifiedSum {
 public:
  explicit Fp32Sum(const Team& team) : team_(team) {}
  void forward(const Tensor& a, const Tensor& b, Tensor& y) override {
    team_.share_elements(
        y.size(), 12,
        [x = a.data(), z = b.data(), out = y.data()](std::size_t first, std::size_t count) {
          std::transform(x + first, x + first + count, z + first, out + first,
                         [](float p, float q) {
                           const float sum = p + q;
                           return sum <= 0 ? 0 : sum;
                         });
        });
  }
  void backward(const Tensor& y, Tensor& dy) override {
    gate(y, dy, [](float gradient, std::size_t /*i*/) { return gradient; });
  }
  void backward(const Tensor& y, const Tensor& part, Tensor& dy) override {
    gate(y, dy,
         [other = part.data()](float gradient, std::size_t i) { return gradient + other[i]; });
  }

 private:
  /// What `whole` makes of each gradient, by a mask: what may be written or not would be a branch
  /// for each, and no vectors.
  template <class Whole>
  void gate(const Tensor& y, Tensor& dy, Whole whole) const {
    const float* const open = y.data();
    float* const out = dy.data();
    team_.share_elements(dy.size(), 16, [=](std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) {
        const std::uint32_t mask = open[i] > 0 ? ~0U : 0U;
        out[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(whole(out[i], i)) & mask);
      }
    });
  }

  Team team_;
};

class Bf16Sum final : public RectifiedSum {
 public:
  explicit Bf16Sum(const Team& team) : team_(team) {}
  void forward(const Tensor& a, const Tensor& b, Tensor& y) override {
    add(a, b, y, [](std::span<std::uint16_t> sums, std::size_t /*first*/) { rectify_bf16(sums); });
  }
  void backward(const Tensor& y, Tensor& dy) override {
    team_.share_elements(dy.size(), 6, [&](std::size_t first, std::size_t count) {
      gate_bf16(all(y).subspan(first, count), all(dy).subspan(first, count));
    });
  }
  void backward(const Tensor& y, const Tensor& part, Tensor& dy) override {
    add(dy, part, dy, [gate = all(y)](std::span<std::uint16_t> sums, std::size_t first) {
      gate_bf16(gate.subspan(first, sums.size()), sums);
    });
  }

 private:
  static std::span<std::uint16_t> all(Tensor& x) { return {x.bf16(), x.size()}; }
  static std::span<const std::uint16_t> all(const Tensor& x) { return {x.bf16(), x.size()}; }
  /// out = a + b, of which then(sums, first) does more while they are at hand.
  template <class Then>
  void add(const Tensor& a, const Tensor& b, Tensor& out, Then then) const {
    team_.share_elements(out.size(), 8, [&](std::size_t from, std::size_t all_of_it) {
      const std::size_t end = from + all_of_it;
      for (std::size_t first = from; first < end; first += kElementsAtOnce) {
        const std::size_t count = std::min(kElementsAtOnce, end - first);
        const std::span<std::uint16_t> sums = all(out).subspan(first, count);
        kernels::add_bf16(all(a).subspan(first, count), all(b).subspan(first, count), sums,
                          kernels::best_isa());
        then(sums, first);
      }
    });
  }

  Team team_;
};

}  // namespace

std::unique_ptr<RectifiedSum> make_rectified_sum(const RectifiedSumSpec& spec, const Team& team) {
  if (spec.element == Element::bf16) return std::make_unique<Bf16Sum>(team);
  return std::make_unique<Fp32Sum>(team);
}

}  // namespace sterna::nets
