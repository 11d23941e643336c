// The CPU backend, on oneDNN 2.6. Its API appears in onednn_backend.cc and nowhere else.
#pragma once

#include <memory>
#include <string>

#include "nets/backend/backend.h"
#include "runtime/base/result.h"

namespace sterna::nets {

struct OneDnnOptions {
  /// Compute threads: part of what a result's bits depend on, so never guessed from the machine.
  int threads = 1;
  /// The highest instruction set that oneDNN may use, which its results' bits depend on too:
  /// "best" (what the CPU has), "avx512", "avx2", or "scalar" (SSE4.1: less it cannot).
  std::string isa = "best";
};

/// Errors: invalid_argument for fewer than one thread, and for several in a process whose OpenMP
/// threads would spin while they wait: OMP_WAIT_POLICY=PASSIVE must be in the environment before
/// the program starts, because libgomp reads it when it is loaded. (A spinning team that shares
/// its cores loses a scheduler tick at each barrier: 8 ms for a primitive of 0.4 ms.)
/// unavailable where this process has computed with a higher instruction set before: oneDNN chooses
/// once per process.
Result<std::unique_ptr<Backend>> make_onednn_backend(const OneDnnOptions& options);

}  // namespace sterna::nets
