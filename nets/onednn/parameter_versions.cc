#include "nets/backend/parameter_versions.h"

#include "nets/backend/failure.h"
#include "nets/onednn/onednn_backend.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

/// All is done when a call returns.
class CpuParameterVersions final : public ParameterVersions {
 public:
  void write(std::size_t /*index*/, Tensor& to, std::size_t first,
             std::span<const float> values) override {
    nets::write(values, to, first);
  }
  void write_by(std::size_t /*index*/, Tensor& /*to*/, const Work& /*work*/) override {
    throw BackendFailure({Errc::internal, "no stream writes parameters of the host"});
  }
  void read(std::size_t /*index*/, const Tensor& from, std::size_t first,
            std::span<float> out) override {
    nets::read(from, first, out);
  }
  void changed(std::size_t /*index*/) override {}
  void released(std::size_t /*first*/, std::size_t /*end*/) override {}
  kernels::DeviceEvent* completed(std::size_t /*index*/) override { return nullptr; }
};

}  // namespace

std::unique_ptr<ParameterVersions> OneDnnBackend::parameter_versions(
    std::span<const std::size_t> /*elements*/) {
  return std::make_unique<CpuParameterVersions>();
}

}  // namespace sterna::nets
