// The messages at which faults may strike, by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sterna::launcher {

/// Empty for a message without a name here.
std::string_view name_of_message(std::uint64_t type_id);
std::vector<std::string_view> message_names();

}  // namespace sterna::launcher
