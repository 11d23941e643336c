// From a host's name to the address that a socket can bind.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace sterna {

/// `name`'s address as this host knows it, numeric; of several the first of IP version 4. An
/// address stays what it is, but for brackets.
Result<std::string> numeric_address(const std::string& name);

}  // namespace sterna
