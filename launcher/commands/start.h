// What `sterna run` and `sterna up` have in common before a run begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/commands/file_arguments.h"
#include "launcher/job/program_check.h"
#include "launcher/owner/owner_client.h"
#include "launcher/view/live_view.h"

namespace sterna::launcher {

struct StartOptions {
  const char* command = "run";  ///< or "up"
  GivenFile given;
  std::string data;     ///< --data; empty: not given
  std::string run_dir;  ///< --run-dir; empty: a name of our own
  bool json = false;
  bool page = false;  ///< --page, of `sterna run`
  std::optional<std::uint64_t> again() const {
    return again_given < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(again_given));
  }
  std::int64_t again_given = -1;  ///< --again; -1: not given
};

/// Whatever stops a run before it begins is to be put right first.
int before_the_run(const Error& error, const Console& console);

/// --again: so often a run is started again where it may go on.
Argument again_argument(StartOptions& options);
/// Whether a run of this file can be started again by itself, with what stands in the way.
Result<void> check_again(const ClusterFile& file);

/// What is shipped to the hosts; nothing where all is on this machine.
struct Bundles {
  RemoteBundle nodes;
  RemoteBundle own;
};
Result<Bundles> bundles_for(const ClusterFile& file);

OwnerClientOptions owner_options(const StartOptions& options, const ClusterFile& file,
                                 const Program& program, const Bundles& bundles, RunView& view,
                                 const Console& console);

/// Remembers a run that a head elsewhere keeps, and returns it as it is called here. The head has a
/// copy of its own; each of the two uses identities that the other does not.
Result<RunState> keep_here(RunState state);

}  // namespace sterna::launcher
