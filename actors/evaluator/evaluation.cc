#include "actors/evaluator/evaluation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "input/batches/preprocess.h"
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

Result<Evaluation> evaluate(nets::Net& net, const input::Dataset& dataset, std::uint64_t examples) {
  if (dataset.count == 0) return Error{Errc::invalid_argument, "no test examples"};
  const std::uint64_t wanted = std::clamp<std::uint64_t>(examples, 1, dataset.count);
  const std::uint64_t stride = dataset.count / wanted;
  std::vector<std::uint64_t> indices;
  std::vector<float> images;
  std::vector<std::uint16_t> labels;
  std::vector<float> logits;
  std::vector<float> scratch;
  std::uint64_t correct = 0;
  double loss = 0;
  for (std::uint64_t done = 0; done < wanted; done += indices.size()) {
    indices.resize(std::min<std::uint64_t>(net.batch(), wanted - done));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = (done + i) * stride;
    images.resize(indices.size() * dataset.image_size());
    labels.resize(indices.size());
    logits.resize(indices.size() * net.classes());
    scratch.resize(logits.size());
    input::gather(dataset, indices, images, labels);
    STERNA_TRY(net.infer(images, indices.size(), logits));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      correct += right(std::span(logits).subspan(i * net.classes(), net.classes()), labels[i]);
    }
    loss +=
        static_cast<double>(nets::softmax_cross_entropy(logits, labels, net.classes(), scratch)) *
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
