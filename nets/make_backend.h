// What computes a net, by its name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "nets/backend/backend.h"
#include "runtime/base/result.h"

namespace sterna::nets {

std::vector<std::string_view> backend_names();

/// Errors: invalid_argument for an unknown name (the message lists the known ones), and what the
/// backend refuses.
Result<std::unique_ptr<Backend>> make_backend(const BackendOptions& options);

}  // namespace sterna::nets
