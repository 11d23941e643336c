// How well a net does on a data set: precision@1, recall@5, the mean loss, and what is taken for
// what.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/job/observer.h"
#include "input/batches/prepare.h"
#include "input/formats/source.h"
#include "nets/net.h"
#include "runtime/base/result.h"

namespace sterna::actors {

struct Evaluation {
  std::uint64_t examples = 0;
  std::uint64_t left_out = 0;  ///< that were to be evaluated too, and are damaged
  std::string damage;          ///< of the first of these, with where it lies
  double precision_at_1 = 0;   ///< the part of the examples whose largest logit is their label's
  double recall_at_5 = 0;      ///< ... of whose five largest logits one is their label's
  double loss = 0;             ///< mean, of the net's own kind: cross-entropy
  /// By label, then by answer, where the count is not 0; none of a net with more than
  /// kMostConfusedClasses.
  std::vector<ConfusionCell> confusion;
};

/// What a net says of one example.
struct Answer {
  std::size_t chosen = 0;  ///< the class of the largest logit; the number of classes: none
  bool recalled = false;   ///< the label's logit is among the five largest
};

/// Ties count against the net: a largest logit that two classes share is no answer, and a label is
/// recalled where fewer than five other classes have a logit at least as large (so it always is
/// with five classes or fewer). Of logits that are not all finite no class is chosen, nor recalled.
Answer answer_of(std::span<const float> logits, std::uint16_t label);

/// Evaluates n = `examples` of the source (all, if it has fewer), each once: example
/// floor(i * count / n) for each i below n, prepared as `how` says; all numbers are of those that
/// are not damaged. Errors: also that all are.
Result<Evaluation> evaluate(nets::Net& net, const input::Source& source,
                            const input::Preparation& how, std::uint64_t examples);

/// A parameter's values in the host's memory: as they lie there, or read from a device into `copy`,
/// which they need then. Errors: the device's.
Result<std::span<const float>> values_on_host(nets::Net& net, std::size_t parameter,
                                              std::vector<float>& copy);

/// SHA-256, in hex, over all parameters in the order of the table: plain row-major little-endian
/// fp32. Errors: a device's.
Result<std::string> parameters_sha256(nets::Net& net);

}  // namespace sterna::actors
