// How well a net does on a data set: precision@1 and the mean loss.
#pragma once

#include <cstdint>
#include <string>

#include "input/batches/prepare.h"
#include "input/formats/source.h"
#include "nets/net.h"
#include "runtime/base/result.h"

namespace sterna::actors {

struct Evaluation {
  std::uint64_t examples = 0;
  double precision_at_1 = 0;  ///< the part of the examples whose largest logit is their label's
  double loss = 0;            ///< mean cross-entropy
};

/// Evaluates n = `examples` of the source (all, if it has fewer): example floor(i * count / n) for
/// each i below n, prepared as `how` says. Logits that are not finite count as wrong.
Result<Evaluation> evaluate(nets::Net& net, const input::Source& source,
                            const input::Preparation& how, std::uint64_t examples);

/// SHA-256, in hex, over all parameters in the order of the table: plain row-major little-endian
/// fp32.
std::string parameters_sha256(nets::Net& net);

}  // namespace sterna::actors
