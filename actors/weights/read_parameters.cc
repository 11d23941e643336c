#include "actors/weights/read_parameters.h"

#include <vector>

namespace sterna::actors {

Result<void> read_parameters(nets::Net& net, const ParameterReader& read) {
  std::vector<float> here;  // of one that is to lie on a device
  for (std::size_t t = 0; t < net.parameters().size(); ++t) {
    const nets::ParameterSpec& spec = net.parameters()[t];
    if (net.on_host()) {
      STERNA_TRY(read(spec, net.parameter(t)));
    } else {
      here.resize(spec.count());
      STERNA_TRY(read(spec, here));
      STERNA_TRY(net.write_parameter(t, 0, here));
    }
    net.parameters_changed(t);
  }
  return {};
}

}  // namespace sterna::actors
