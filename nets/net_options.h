// What a net is made with, and what of it a net of the zoo refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/zoo/zoo.h"
#include "runtime/base/result.h"

namespace sterna::nets {

struct NetOptions {
  std::string name;                        ///< a name of trainable_names()
  ImageClasses images = {};                ///< MNIST's, if nothing is said
  std::vector<std::uint32_t> hidden = {};  ///< of the mlp: its hidden layers' widths
  std::size_t batch = 0;                   ///< images per step, at least 1
  /// Images per pass, a divisor of `batch`: a step adds the gradients of all its passes. 0: all.
  std::size_t micro_batch = 0;
  float weight_decay = 0;  ///< wd of the loss term wd · Σ w² / 2 over the weights that decay
  float keep = 0.5F;       ///< the part of the units that dropout keeps, where the net has dropout
  bool bn_scale = false;   ///< its batch norms have a factor for each channel, too
  bool pool_padding = false;   ///< its average pools count the padding, too
  float bn_decay = 0;          ///< of the moving statistics; 0: the original's
  float label_smoothing = -1;  ///< below 0: the original's
  std::size_t divisor = 1;  ///< of all channels but the classes: for tests, which need small nets
  bool trains = true;       ///< else only infer() may be called, and less memory is needed
  BackendOptions backend = {};
};

/// The net of that name, if it can be made so. Errors: invalid_argument for an unknown name (the
/// message lists the known ones), images it cannot take, a batch of 0, a hidden layer without units
/// or in a net that has none, a number that makes no sense.
Result<const ZooNet*> check_net_options(const NetOptions& options);

/// Errors: invalid_argument for a batch of 0, and for a micro-batch that does not divide it.
Result<void> check_batch(const NetOptions& options);

/// Images that pass through the net at once.
std::size_t images_per_pass(const NetOptions& options);

ZooOptions zoo_options(const NetOptions& options);

}  // namespace sterna::nets
