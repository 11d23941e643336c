#include "nets/backend/decay.h"

#include "nets/onednn/onednn_backend.h"
#include "nets/tensor/loss.h"

namespace sterna::nets {
namespace {

class CpuDecay final : public Decay {
 public:
  explicit CpuDecay(float decay) : decay_(decay) {}
  void begin() override { sum_of_squares_ = 0; }
  void add(const Tensor& weights, Tensor& gradient) override {
    sum_of_squares_ += add_decay(weights.values(), decay_, gradient.values());
  }
  float loss() override { return static_cast<float>(0.5 * decay_ * sum_of_squares_); }

 private:
  float decay_;
  double sum_of_squares_ = 0;
};

}  // namespace

std::unique_ptr<Decay> OneDnnBackend::decay(const DecaySpec& spec) {
  return std::make_unique<CpuDecay>(spec.decay);
}

}  // namespace sterna::nets
