// What a host says of its cards and of NVIDIA's software to a POSIX shell: parts of facts_script().
// Lines "STERNA WORD VALUE", as all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sterna::launcher {

/// gpus: how many there are.
std::string_view gpus_script();
/// driver: its release; capability: of the oldest card.
std::string_view driver_script();
/// misses: the last of a library's parts, for one that is nowhere with all of them, and what a
/// folder lacks that has the first. It looks where kernels/device/library.h does, with the
/// variables
/// ("NAME=VALUE") that the processes there will have.
std::string libraries_script(const std::vector<std::vector<std::string>>& libraries,
                             const std::vector<std::string>& environment);
/// peers: a card, and for each card how it reads of that: "OK", "X" (itself), or why it cannot.
std::string_view peers_script();
/// mps: whether cards run the kernels of several processes side by side.
std::string_view mps_script();

}  // namespace sterna::launcher
