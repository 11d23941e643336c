#include "actors/evaluator/evaluation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "input/files/sha256.h"
#include "nets/tensor/loss.h"

namespace sterna::actors {
namespace {

bool right(std::span<const float> logits, std::uint16_t label) {
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (!std::isfinite(logits[c])) return false;
    // A tie with another class is no answer.
    if (c != label && logits[c] >= logits[label]) return false;
  }
  return true;
}

}  // namespace

Result<Evaluation> evaluate(nets::Net& net, const input::Source& source,
                            const input::Preparation& how, std::uint64_t examples) {
  const std::uint64_t count = source.facts().count;
  if (count == 0) return Error{Errc::invalid_argument, "no test examples"};
  const std::uint64_t wanted = std::clamp<std::uint64_t>(examples, 1, count);
  std::vector<std::uint64_t> indices;
  input::PreparedBatch batch(how, net.batch());
  std::vector<float> logits;
  std::vector<float> scratch;
  std::uint64_t correct = 0;
  double loss = 0;
  for (std::uint64_t done = 0; done < wanted; done += indices.size()) {
    indices.resize(std::min<std::uint64_t>(net.batch(), wanted - done));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = (done + i) * count / wanted;
    logits.resize(indices.size() * net.classes());
    scratch.resize(logits.size());
    const input::PreparedRows rows = batch.rows(indices.size());
    STERNA_TRY(input::prepare_evaluation(source, indices, how, rows));
    STERNA_TRY(net.infer(nets::PixelImages{rows.pixels, rows.levels}, indices.size(), logits));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      correct += right(std::span(logits).subspan(i * net.classes(), net.classes()), rows.labels[i]);
    }
    loss += static_cast<double>(
                nets::softmax_cross_entropy(logits, rows.labels, net.classes(), scratch)) *
            static_cast<double>(indices.size());
  }
  return Evaluation{.examples = wanted,
                    .precision_at_1 = static_cast<double>(correct) / static_cast<double>(wanted),
                    .loss = loss / static_cast<double>(wanted)};
}

std::string parameters_sha256(nets::Net& net) {
  input::Sha256 sum;
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    sum.update(std::as_bytes(net.parameter(i)));
  }
  return sum.hex();
}

}  // namespace sterna::actors
