// The launches of a device on the host: the same tables, and each warp's own code run by a
// HostWarp.
#pragma once

#include "kernels/optimizer/update_launch.h"
#include "kernels/sums/sum_launch.h"
#include "kernels/trits/encode_launch.h"

namespace sterna::kernels {

void host_encode(EncodePass pass, const EncodeLaunch& launch);
void host_encode_bf16(const EncodeLaunch& launch);
void host_sum_trits(const SumLaunch& launch);
void host_update(const UpdateLaunch& launch);

}  // namespace sterna::kernels
