// --device: what a command computes on, be it an answer or a benchmark.
#pragma once

#include <memory>
#include <string>

#include "actors/job/open_device.h"
#include "launcher/commands/command.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct DeviceOption {
  std::string name = "cpu";

  /// It points into this object.
  Argument argument() {
    return {.name = "--device",
            .into = &name,
            .help = "What computes: cpu, cuda (the first GPU that the driver shows), or cuda:N",
            .type = "NAME",
            .shows_default = true};
  }
  /// Null: the CPU. Errors: open_device()'s; there is no other device in its place.
  Result<std::shared_ptr<kernels::Device>> open() const {
    return actors::open_device(name).in("--device " + name);
  }
};

}  // namespace sterna::launcher
