// What an actor computes on, by the name of its backend; and a command, by the name of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/cuda_module.h"

namespace sterna::actors {

/// Of "cpu" none. Of "cuda" those that the driver shows this process under these numbers, of which
/// one may be there twice, and is the same then; none are named: the first. What they came from
/// lives as long. Errors: invalid_argument for another name; with the key, one line that says what
/// is missing and what to do: no module, one of another build, no driver, an old one, no device,
/// one that is too old.
Result<std::vector<std::shared_ptr<kernels::Device>>> open_devices(
    const std::string& backend, std::vector<std::uint32_t> which = {},
    const kernels::CudaOptions& options = {});

/// Of "cpu" null; of "cuda" the first that the driver shows, of "cuda:1" the second. Errors: as
/// above, without a key.
Result<std::shared_ptr<kernels::Device>> open_device(std::string_view name,
                                                     const kernels::CudaOptions& options = {});

/// For ActorBase::suffer_device_fault(), of an actor with that backend. `device`: null while none
/// is open.
Result<void> fail_soon(const std::string& backend, const std::shared_ptr<kernels::Device>& device);

}  // namespace sterna::actors
