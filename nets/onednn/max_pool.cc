#include "nets/backend/max_pool.h"

#include "nets/cpu/halving_pool.h"
#include "nets/cpu/own_max_pool.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

/// Pooling that tiles the image.
class HalvingMaxPool final : public MaxPool {
 public:
  HalvingMaxPool(const Shape& in, const Team& team)
      : pool_{.rows = in[0] * in[2] / 2, .columns = in[3] / 2, .channels = in[1]},
        team_(team),
        winner_(element_count(in) / 4) {}
  static bool fits(const MaxPoolSpec& spec) {
    const auto halves = [](const Slide& slide, std::size_t in) {
      return slide.kernel == 2 && slide.stride == 2 && in % 2 == 0 && slide.before(in) == 0;
    };
    return halves(spec.window.down(), spec.input[2]) && halves(spec.window.across(), spec.input[3]);
  }
  void forward(const Tensor& x, Tensor& y) override {
    halving_pool_forward(pool_, isa_, team_, x, y, winner_.as<std::uint8_t>().data());
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    halving_pool_backward(pool_, isa_, team_, dy, winner_.as<std::uint8_t>().data(), dx);
  }

 private:
  HalvingPool pool_;
  kernels::Isa isa_ = usable_isa();
  Team team_;
  Buffer winner_;
};

}  // namespace

std::unique_ptr<MaxPool> OneDnnBackend::max_pool(const MaxPoolSpec& spec) {
  const Team team(context_->threads);
  if (HalvingMaxPool::fits(spec)) return std::make_unique<HalvingMaxPool>(spec.input, team);
  return make_own_max_pool(spec, usable_isa(), team);
}

}  // namespace sterna::nets
