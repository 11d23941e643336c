// Where a process was when it crashed: what its log says besides "killed by SIGSEGV".
#pragma once

#include <string_view>

namespace sterna {

/// From now on a SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT writes to standard error the calls that
/// its thread was in, innermost last, as `addr2line -Cfe PROGRAM OFFSET` wants them, and which
/// thread of whom (`process`, an actor's name) that was; then it ends the process as ever. What
/// handles such a signal already (a sanitizer) keeps it. A stack that overflows leaves no room to
/// say so, and a thread that has these signals blocked (one that only writes texts, or moves bytes
/// for libzmq) ends the process at once.
void trace_crashes(std::string_view process);

}  // namespace sterna
