// What a parameter is: its name, shape, role and how it starts. The table of a net is fixed when
// the net is made, and its order is what indices mean on the wire and on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/isa/isa.h"
#include "kernels/random/initializer.h"

namespace sterna::nets {

/// What a parameter does. A `statistic` (batch norm's moments) is not trained by gradients, and
/// never packed.
enum class Role { weight, bias, beta, gamma, statistic };

/// The name of a role as files and logs print it, e.g. "weight".
const char* name(Role role);

struct ParameterSpec {
  std::string name;                ///< "conv1/weights"
  std::vector<std::size_t> shape;  ///< row-major; convolution OIHW, inner product {out, in}
  Role role = Role::weight;
  bool logits = false;     ///< of the layer that gives the net's logits
  bool decay = false;      ///< weight decay applies
  float stddev = 0;        ///< weights start as a normal truncated at two of these; 0: `constant`
  float constant = 0;      ///< what everything else starts as
  float limit = 0;         ///< above 0: weights start uniform between minus this and this instead
  float moving_decay = 0;  ///< of a statistic: its moving average's, once that has warmed up
  bool whole_normal = false;  ///< the normal of `stddev` is not truncated
  std::size_t count() const;  ///< number of elements
};

/// Gives neighbouring elements of a parameter what they start as; `draw` says which those are. The
/// same bits for the same spec and draw on every machine.
void initialize(std::span<float> values, const ParameterSpec& spec,
                const kernels::InitialDraw& draw, kernels::Isa isa = kernels::best_isa());

}  // namespace sterna::nets
