// LossBand: the losses of a run's steps as a picture can show them: at most kMost points, each with
// the lowest, the mean and the highest of as many steps as it stands for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sterna::launcher {

struct LossPoint {
  std::int64_t step = 0;  ///< the last of its steps
  double low = 0;
  double sum = 0;
  double high = 0;
  double decay = 0;  ///< sum of weight decay's parts
  std::uint64_t losses = 0;
  double mean() const { return sum / static_cast<double>(losses); }
  double mean_decay() const { return decay / static_cast<double>(losses); }
};

class LossBand {
 public:
  static constexpr std::size_t kMost = 1024;

  void add(std::int64_t step, double loss, double decay) {
    // Ranks that step by themselves tell their losses as they come.
    LossPoint one{step, loss, loss, loss, decay, 1};
    if (!points_.empty() && points_.back().losses < stride_) {
      points_.back() = merged(points_.back(), one);
      return;
    }
    if (!points_.empty()) one.step = std::max(step, points_.back().step);
    if (points_.size() == kMost) halve();
    points_.push_back(one);
  }
  /// What was of later steps is done again.
  void drop_after(std::int64_t step) {
    std::erase_if(points_, [step](const LossPoint& point) { return point.step > step; });
    told_ = std::min(told_, points_.size());
  }
  /// All that stand for as many steps as the others do, and the last, which may grow.
  std::span<const LossPoint> points() const { return points_; }
  /// Of points(), those that were full since the last call; none of them was in its answers before.
  std::vector<LossPoint> news() {
    const std::size_t full =
        points_.empty() || points_.back().losses >= stride_ ? points_.size() : points_.size() - 1;
    std::vector<LossPoint> fresh;
    if (told_ < full)
      fresh.assign(points_.begin() + static_cast<std::ptrdiff_t>(told_),
                   points_.begin() + static_cast<std::ptrdiff_t>(full));
    told_ = std::max(told_, full);
    return fresh;
  }

 private:
  static LossPoint merged(const LossPoint& a, const LossPoint& b) {
    return {std::max(a.step, b.step), std::min(a.low, b.low), a.sum + b.sum,
            std::max(a.high, b.high), a.decay + b.decay,      a.losses + b.losses};
  }
  /// Two points become one.
  void halve() {
    for (std::size_t i = 0; 2 * i + 1 < points_.size(); ++i) {
      points_[i] = merged(points_[2 * i], points_[2 * i + 1]);
    }
    points_.resize(points_.size() / 2);
    told_ /= 2;
    stride_ *= 2;
  }

  std::vector<LossPoint> points_;
  std::uint64_t stride_ = 1;
  std::size_t told_ = 0;
};

}  // namespace sterna::launcher
