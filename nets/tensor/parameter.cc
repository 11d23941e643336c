#include "nets/tensor/parameter.h"

#include <algorithm>

#include "nets/tensor/tensor.h"

namespace sterna::nets {

const char* name(Role role) {
  switch (role) {
    case Role::weight:
      return "weight";
    case Role::bias:
      return "bias";
    case Role::beta:
      return "beta";
    case Role::gamma:
      return "gamma";
    case Role::statistic:
      return "statistic";
  }
  return "unknown";
}

std::size_t ParameterSpec::count() const { return element_count(shape); }

void initialize(std::span<float> values, const ParameterSpec& spec,
                const kernels::InitialDraw& draw, kernels::Isa isa) {
  if (spec.stddev > 0 && spec.whole_normal)
    kernels::normal(values, spec.stddev, draw);
  else if (spec.stddev > 0)
    kernels::truncated_normal(values, spec.stddev, draw, isa);
  else if (spec.limit > 0)
    kernels::uniform(values, spec.limit, draw, isa);
  else
    std::fill(values.begin(), values.end(), spec.constant);
}

}  // namespace sterna::nets
