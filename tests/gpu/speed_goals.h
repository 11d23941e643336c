// What a card's codec must reach, and should: of the figures of `sterna bench codec --device cuda`.
#pragma once

#include <array>

namespace sterna::kernels {

struct SpeedGoal {
  const char* figure;
  double floor;  ///< what it must reach
  double aim;
  bool less_is_better;
};

inline constexpr std::array kSpeedGoals{SpeedGoal{"quantize_over_read", .70, .88, false},
                                        SpeedGoal{"encode_last_step_over_read", .60, .80, false},
                                        SpeedGoal{"encode_tensor_over_read", .36, .44, false},
                                        SpeedGoal{"encode_net_over_read", .33, .42, false},
                                        SpeedGoal{"encode_lenet_us", 20, 10, true},
                                        SpeedGoal{"aggregate8_over_read", .55, .70, false},
                                        SpeedGoal{"fused8_over_momentum", 1.15, .97, true},
                                        SpeedGoal{"host_over_pinned_copy", 1.5, 1.15, true}};

}  // namespace sterna::kernels
