#include "actors/weights/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "actors/weights/read_parameters.h"
#include "input/batches/prepare.h"
#include "nets/describe_net.h"
#include "runtime/host/free_memory.h"

namespace sterna::actors {
namespace {

Result<void> check_memory(const nets::NetDescription& net, const std::string& name) {
  std::uint64_t bytes = net.activations.bytes;
  for (const nets::ParameterSpec& spec : net.parameters) bytes += spec.count() * sizeof(float);
  const std::optional<std::uint64_t> available = free_memory();
  if (!available || bytes <= *available) return {};
  constexpr double kGigabyte = 1e9;
  return Error{Errc::overloaded,
               fmt::format("{} takes {:.3g} GB for one picture, and {:.3g} GB of memory are free",
                           name, static_cast<double>(bytes) / kGigabyte,
                           static_cast<double>(*available) / kGigabyte)};
}

}  // namespace

Result<Model> Model::load(const TrainedWeights& weights, std::shared_ptr<kernels::Device> device) {
  Model model;
  STERNA_ASSIGN(model.note_, weights.note());
  nets::NetOptions options = model.note_.net(1);
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(options));
  STERNA_TRY(weights.check(options.name, net.parameters));
  if (device == nullptr) {
    STERNA_TRY(check_memory(net, options.name));
  } else {  // which says itself what does not fit
    options.backend.name = "device";
    options.backend.device = std::move(device);
  }
  STERNA_ASSIGN(model.net_, nets::make_net(options));
  STERNA_TRY(
      read_parameters(*model.net_, [&](const nets::ParameterSpec& spec, std::span<float> values) {
        return weights.read(spec, values);
      }));
  model.how_ = model.note_.preparation();
  return model;
}

Result<std::vector<float>> Model::logits(const input::EncodedPicture& picture) {
  input::PreparedBatch batch(how_, 1);
  const std::size_t channels = how_.options.shape.channels;
  const std::span<float> levels = batch.levels;
  STERNA_TRY(how_.family->evaluate(
      picture, how_.options,
      {batch.pixels, levels.first(channels), levels.subspan(channels, channels)}));
  std::vector<float> logits(net_->classes());
  STERNA_TRY(net_->infer(nets::PixelImages{batch.pixels, batch.levels}, 1, logits));
  if (std::ranges::all_of(logits, [](float one) { return std::isfinite(one); })) return logits;
  return Error{Errc::non_finite, "the weights give logits that are not finite"};
}

std::vector<double> softmax(const std::vector<float>& logits) {
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> probabilities(logits.size());
  std::ranges::transform(logits, probabilities.begin(),
                         [&](float logit) { return std::exp(logit - largest); });
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& one : probabilities) one /= sum;
  return probabilities;
}

std::vector<std::uint32_t> likeliest(const std::vector<float>& logits, std::size_t most) {
  std::vector<std::uint32_t> classes(logits.size());
  std::iota(classes.begin(), classes.end(), 0U);
  most = std::min(most, classes.size());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::ranges::partial_sort(classes, classes.begin() + static_cast<std::ptrdiff_t>(most), before);
  classes.resize(most);
  return classes;
}

}  // namespace sterna::actors
