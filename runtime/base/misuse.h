// misuse(): the end of a program that uses the runtime as nothing can make sense of.
#pragma once

#include <string_view>

namespace sterna {

/// One line to the standard error, then abort(), in every build: where going on would wait for ever
/// or read what is not there. What a peer, a user or a machine can cause is no misuse.
[[noreturn]] void misuse(std::string_view what);

}  // namespace sterna
