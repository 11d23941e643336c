#include "nets/backend/dropout.h"

#include <algorithm>
#include <array>

#include "nets/onednn/onednn_backend.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

class CpuDropout final : public Dropout {
 public:
  explicit CpuDropout(float keep) : keep_(keep) {}
  void draw(const kernels::DropoutDraw& draw) override { draw_ = draw; }
  void run(const Tensor& x, Tensor& y) override {
    if (x.element() == Element::fp32) {
      return kernels::dropout(x.values(), keep_, draw_, y.values());
    }
    kernels::DropoutDraw of_some = draw_;
    std::array<float, kElementsAtOnce> some;
    for (std::size_t i = 0; i < x.size(); i += kElementsAtOnce) {
      const auto values = std::span(some).first(std::min(kElementsAtOnce, x.size() - i));
      read(x, i, values);
      kernels::dropout(values, keep_, of_some, values);
      write(values, y, i);
      of_some.first += values.size();
    }
  }

 private:
  float keep_;
  kernels::DropoutDraw draw_;
};

}  // namespace

std::unique_ptr<Dropout> OneDnnBackend::dropout(const DropoutSpec& spec) {
  return std::make_unique<CpuDropout>(spec.keep);
}

}  // namespace sterna::nets
