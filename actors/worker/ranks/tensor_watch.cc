#include "actors/worker/ranks/tensor_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

/// Larger pictures are left out: they would be in the way of what a step needs.
constexpr std::size_t kMostPictureBytes = std::size_t{1} << 20;

TensorHistogram told(const std::string& tensor, HistogramOf of,
                     const kernels::Histogram& histogram) {
  TensorHistogram told{.tensor = tensor,
                       .of = of,
                       .elements = histogram.count(),
                       .non_finite = histogram.non_finite(),
                       .sum = histogram.sum(),
                       .sum_of_squares = histogram.sum_of_squares()};
  if (told.elements > 0) {
    told.least = histogram.least();
    told.most = histogram.most();
  }
  for (const auto& [bucket, count] : histogram.buckets()) {
    told.buckets.push_back(bucket);
    told.counts.push_back(count);
  }
  return told;
}

}  // namespace

TensorWatch::TensorWatch(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                         kernels::Isa isa)
    : job_(job), table_(std::move(table)), isa_(isa) {
  for (const TableTensor& tensor : table_->tensors) {  // of an auxiliary head's the later one
    if (!tensor.spec.logits || tensor.spec.role != nets::Role::weight) continue;
    logits_layer_ = tensor.spec.name.substr(0, tensor.spec.name.rfind('/'));
    classes_ = tensor.spec.shape.front();
  }
}

bool TensorWatch::begin(std::uint64_t step, const Batch& batch) {
  if (begun_ == step) return false;
  begun_ = step;
  watching_ = job_.summary.due(step);
  histograms_.clear();
  pictures_.clear();
  if (!watching_) return false;
  const std::vector<std::uint16_t> labels = labels_of(batch);
  const std::size_t bytes = job_.picture.bytes();
  const ByteView pixels = batch.pixels.view();
  for (std::size_t i = 0; i < std::min(labels.size(), kMostWatchedPictures); ++i) {
    if (bytes > kMostPictureBytes || (i + 1) * bytes > pixels.size()) break;
    auto copy = std::make_shared<Buffer>(bytes);
    std::memcpy(copy->data(), pixels.data() + i * bytes, bytes);
    pictures_.push_back({.shape = job_.picture, .pixels = share(copy), .label = labels[i]});
  }
  predicted_ = false;
  return true;
}

void TensorWatch::predict(std::span<const float> logits) {
  // Of several micro-batches the first has the first pictures.
  if (std::exchange(predicted_, true)) return;
  pictures_.resize(std::min(pictures_.size(), logits.size() / classes_));
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    const auto own = logits.subspan(i * classes_, classes_);
    pictures_[i].prediction =
        static_cast<std::uint16_t>(std::ranges::max_element(own) - own.begin());
  }
}

void TensorWatch::activation(const std::string& layer, std::span<const float> values) {
  if (!watching_) return;
  histograms_[{layer, HistogramOf::ACTIVATIONS}].add(values);
  if (layer == logits_layer_) predict(values);
}

void TensorWatch::gradient(std::uint32_t tensor, std::span<const float> values,
                           std::span<const float> weights) {
  if (!watches(tensor)) return;
  const std::string& name = table_->tensors[tensor].spec.name;
  histograms_[{name, HistogramOf::GRADIENTS}].add(values);
  histograms_[{name, HistogramOf::WEIGHTS}].add(weights);
}

void TensorWatch::sent(std::span<const Packet> packets) {
  for (const Packet& packet : packets) {
    const TableChunk& chunk = table_->chunks[packet.chunk];
    if (!watches(chunk.tensor)) continue;
    const GradientCodec codec = codec_of(packet.codec);
    const auto opened = codec.open(packet.payload, {.count = packet.count}, pool_, isa_);
    if (!opened) continue;  // its server says so
    sent(chunk, {codec.packing, packet.scaler, opened->view()});
  }
}

void TensorWatch::sent(const TableChunk& chunk, const kernels::Packet& packet) {
  if (!watches(chunk.tensor)) return;
  decoded_.resize(chunk.count);
  kernels::average(std::span(&packet, 1), decoded_, isa_);
  histograms_[{table_->tensors[chunk.tensor].spec.name, HistogramOf::SENT}].add(decoded_);
}

std::optional<Watched> TensorWatch::take() {
  if (!std::exchange(watching_, false)) return std::nullopt;
  Watched all{.worker = {}, .step = *begun_};
  for (const auto& [what, histogram] : std::exchange(histograms_, {})) {
    all.histograms.push_back(told(what.tensor, what.of, histogram));
  }
  if (predicted_) all.pictures = std::move(pictures_);
  return all;
}

}  // namespace sterna::actors
