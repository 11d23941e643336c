// What a program tells about itself when it is asked on the command line, before it is anything
// else:
//
//   PROGRAM __bundle-hash       the hash of the bundle that it lies in (bundle.h)
#pragma once

#include <optional>

#include "runtime/registry.h"

namespace sterna {

/// The exit code, or null if the program was not asked.
std::optional<int> answer_about_itself(int argc, char** argv, const Registry& registry);

}  // namespace sterna
