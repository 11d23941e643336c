// Text as it travels to who accepts "gzip" (RFC 1952).
#pragma once

#include <string>
#include <string_view>

namespace sterna::launcher {

/// Empty where there is no memory for it.
std::string gzip(std::string_view text);

}  // namespace sterna::launcher
