// NCCL's part of kernels/device/device_exchange.h. Of the module alone.
//
// It moves bytes and nothing else: sums are ours, as the order of its own follows the topology and
// the size. It is opened when it is first used, as cuDNN is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device_exchange.h"
#include "kernels/device/library.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

struct NcclPlaces {
  std::string library = "libnccl.so.2";
  LibraryPlaces folders = library_places();
};

/// Among the cards that the driver shows under these numbers, all distinct. A call that fails, or
/// what NCCL says later of one, aborts its communicators, which ends what waits on the cards for
/// each other; so does the end of the exchange, which comes before that of the streams. Each later
/// call fails with the same error. Errors: unavailable, where no NCCL is there (with the places
/// that were looked at), it is too old, or it does not start.
Result<std::unique_ptr<DeviceExchange>> make_nccl_exchange(const std::vector<int>& devices,
                                                           const NcclPlaces& places = {});

}  // namespace sterna::kernels
