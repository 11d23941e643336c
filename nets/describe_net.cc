#include "nets/describe_net.h"

#include "nets/backend/describing_backend.h"
#include "nets/net_heads.h"

namespace sterna::nets {

std::uint64_t NetDescription::trained_elements() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < trained; ++i) count += parameters[i].count();
  return count;
}

std::uint64_t NetDescription::training_bytes() const {
  std::uint64_t count = 0;
  for (const ParameterSpec& spec : parameters) count += spec.count();
  const std::uint64_t copies = passes > 1 ? 3 : 2;
  return copies * sizeof(float) * count + activations.bytes;
}

std::uint64_t NetDescription::least_training_bytes() const {
  return training_bytes() - activations.bytes + activations.bound;
}

Result<NetDescription> describe_net(const NetOptions& options) {
  STERNA_ASSIGN(const ZooNet* net, check_net_options(options));
  DescribingBackend backend;
  Graph graph(
      backend,
      {.shares_memory = true, .trains = options.trains, .element = options.backend.precision});
  add_heads(graph, net->build(graph, zoo_options(options)), 0);
  NetDescription description;
  description.trained = graph.trained_count();
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    description.parameters.push_back(graph.parameter(i).spec);
  }
  description.operations = backend.operations();
  description.dropouts = backend.dropouts();
  description.flops = backend.flops() / images_per_pass(options);
  description.passes = options.batch / images_per_pass(options);
  description.activations = graph.memory();
  return description;
}

}  // namespace sterna::nets
