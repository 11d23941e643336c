// How a file that is kept in the cache for another one is named.
#pragma once

#include <filesystem>
#include <string>

namespace sterna::input {

/// "KEY-NAME": 16 hexadecimal digits of where `original` lies, then its name.
std::string cache_name(const std::filesystem::path& original);

}  // namespace sterna::input
