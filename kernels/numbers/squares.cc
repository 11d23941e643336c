#include "kernels/numbers/squares.h"

#include <algorithm>
#include <array>

namespace sterna::kernels {

double sum_of_squares(std::span<const float> values) {
  double total = 0;
  for (std::size_t first = 0; first < values.size(); first += kSquaresBlock) {
    const std::span block = values.subspan(first, std::min(kSquaresBlock, values.size() - first));
    std::array<double, kSquaresLanes> lanes{};
    std::size_t i = 0;
    for (; i + kSquaresLanes <= block.size(); i += kSquaresLanes) {
      for (std::size_t lane = 0; lane < kSquaresLanes; ++lane) {
        lanes[lane] += double{block[i + lane]} * double{block[i + lane]};
      }
    }
    for (std::size_t lane = 0; i + lane < block.size(); ++lane) {
      lanes[lane] += double{block[i + lane]} * double{block[i + lane]};
    }
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    total += sum;
  }
  return total;
}

}  // namespace sterna::kernels
