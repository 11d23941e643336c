#include "nets/net_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sterna::nets {
namespace {

Result<void> check_images(const ZooNet& net, const ImageClasses& images) {
  if (images.values() == 0 || images.channels > 4 || images.classes == 0) {
    return Error{
        Errc::invalid_argument,
        fmt::format("images of {} x {} pixels of {} bytes in {} classes; there must be some, "
                    "and 1 to 4 bytes",
                    images.rows, images.columns, images.channels, images.classes)};
  }
  if (net.classes != 0 && images.classes != net.classes) {
    return Error{Errc::invalid_argument,
                 fmt::format("{} classes; {} is for exactly {}: set data.classes = {}",
                             images.classes, net.name, net.classes, net.classes)};
  }
  if (std::min(images.rows, images.columns) >= net.smallest) return {};
  return Error{Errc::invalid_argument,
               fmt::format("images of {} x {} pixels; {} takes none that is smaller than {} x {} "
                           "(the original: {} x {})",
                           images.rows, images.columns, net.name, net.smallest, net.smallest,
                           net.usual.rows, net.usual.columns)};
}

}  // namespace

Result<const ZooNet*> check_net_options(const NetOptions& options) {
  const ZooNet* net = find_net(options.name);
  const auto wrong = [](std::string what) {
    return Error{Errc::invalid_argument, std::move(what)};
  };
  if (net == nullptr) {
    return wrong(fmt::format("no net is called \"{}\"; there are: {}", options.name,
                             fmt::join(trainable_names(), ", ")));
  }
  if (!net->takes_hidden && !options.hidden.empty()) {
    return wrong(
        fmt::format("the widths of hidden layers for {}, which has its own", options.name));
  }
  if (std::ranges::find(options.hidden, 0U) != options.hidden.end()) {
    return wrong("a hidden layer of 0 units");
  }
  STERNA_TRY(check_batch(options));
  if (!(options.keep > 0 && options.keep <= 1)) {
    return wrong(fmt::format("dropout that keeps {}; it is above 0 and at most 1", options.keep));
  }
  if (!(options.bn_decay >= 0 && options.bn_decay < 1)) {
    return wrong(
        fmt::format("a decay of batch norm's statistics of {}; it is 0 or more, and below "
                    "1",
                    options.bn_decay));
  }
  if (!(options.label_smoothing < 1)) {
    return wrong(fmt::format("a label smoothing of {}; it is below 1", options.label_smoothing));
  }
  if (!std::isfinite(options.weight_decay) || options.weight_decay < 0) {
    return wrong(fmt::format("a weight decay of {}; it is 0 or more", options.weight_decay));
  }
  STERNA_TRY(check_images(*net, options.images));
  return net;
}

Result<void> check_batch(const NetOptions& options) {
  if (options.batch == 0) return Error{Errc::invalid_argument, "a batch of 0 images"};
  if (options.batch % images_per_pass(options) == 0) return {};
  return Error{Errc::invalid_argument,
               fmt::format("a micro-batch of {} images, which does not divide a batch of {}",
                           options.micro_batch, options.batch)};
}

std::size_t images_per_pass(const NetOptions& options) {
  return options.micro_batch > 0 ? options.micro_batch : options.batch;
}

ZooOptions zoo_options(const NetOptions& options) {
  return {.batch = images_per_pass(options),
          .images = options.images,
          .hidden = options.hidden,
          .keep = options.keep,
          .bn_scale = options.bn_scale,
          .pool_padding = options.pool_padding,
          .bn_decay = options.bn_decay,
          .divisor = options.divisor};
}

}  // namespace sterna::nets
