// How much memory there is to be had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sterna {

/// Bytes that this process may still take: what the kernel says is available, within the limits of
/// its control groups, where what they keep of files counts as free. Nothing where the system does
/// not say. `root`: where /proc and /sys are.
std::optional<std::uint64_t> free_memory(const std::string& root = "");

}  // namespace sterna
