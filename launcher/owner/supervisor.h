// The parent of an owner, of `sterna up --again N`: starts the run again whose owner has died.
//
//   sterna __own NAME RUN 0             this: it waits, and knows nothing of the run
//     └─▶ sterna __own NAME RUN PID     the owner (owner.h); its order lies in kOrderDescriptor
//
// The first owner has the launcher's streams, and while the launcher is there its end is for the
// launcher to tell. Later ones go on in the run's directory from its newest checkpoint, with the
// name, the number and the hosts of the run: whoever asks after it or ends it finds it as before.
// An owner that ends by itself (done, `sterna down`, a fault that would happen again) is the end.
#pragma once

#include <string>

#include "launcher/owner/owner.h"
#include "runtime/host/process_names.h"

namespace sterna::launcher {

/// Where an owner finds its order that has a supervisor.
inline constexpr int kOrderDescriptor = 3;

/// Whether a run whose owner ended so is started again: killed, or with kExitGoesOn.
bool is_started_again(int exit_code, int signal);

/// Starts `file` (resolved) as often as the order says; the exit code of the last owner. Single
/// threaded, before anything else runs in this process.
int supervise(const ChildArguments& self, std::string file, const OwnerOrder& order);

}  // namespace sterna::launcher
