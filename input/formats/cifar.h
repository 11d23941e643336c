// CIFAR's binary form (Krizhevsky 2009): records of one or two label bytes and 3,072 of pixels, the
// red plane of 32 x 32, then the green and the blue one; no header.
#pragma once

#include "input/formats/format.h"

namespace sterna::input {

/// CIFAR-10: data_batch_1.bin to data_batch_5.bin and test_batch.bin.
extern const Format kCifar10;
/// CIFAR-100: train.bin and test.bin, whose second label byte, the fine class, is used. Shards keep
/// no coarse classes: their first label byte is 0.
extern const Format kCifar100;

}  // namespace sterna::input
