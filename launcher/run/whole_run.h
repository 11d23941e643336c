// A whole run on the head: its data, its folder, what is remembered of it while it goes on, the job
// itself, and what it leaves. `sterna run` does it in the foreground; `sterna up` in a process that
// stays behind.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/run_job.h"
#include "launcher/past/run_state.h"
#include "launcher/text/console.h"
#include "launcher/view/live_view.h"
#include "runtime/remote/remote_session.h"

namespace sterna::launcher {

struct WholeRunOptions {
  Console console;
  ClusterFile file;
  std::string file_path;  ///< as the user gave it
  std::string data;       ///< --data; empty: not given
  std::string run_dir;    ///< --run-dir; empty: a name of our own
  std::string run_parent = "runs";
  std::uint64_t run = 0;  ///< 0: one is drawn
  Program program;
  bool detached = false;
  std::int64_t supervisor = 0;  ///< the pid of who starts this process again; 0: nobody does
  bool comes_again = false;     ///< somebody does where the exit code is 75
  bool begun = false;           ///< run_dir may be there from a life before
  bool page = false;            ///< a page in a browser shows it
  Time began;                   ///< when the user typed the command
  RemoteBundle bundle;          ///< for hosts that are other machines
  /// Instead of the file's placer, where this process cannot reach the other hosts.
  decltype(JobOptions::make_placer) make_placer;
  /// The command that goes on with the run in that directory; null: resume_command()'s.
  std::function<std::string(const std::string& run_directory)> resume = {};
  std::function<std::unique_ptr<RunView>()> make_view;
  std::function<void(const RunState&)> started = {};  ///< the coordinator can be dialled
  std::function<void()> running = {};                 ///< every actor runs
};

struct WholeRunEnd {
  RunResult result;
  StopReport stop;
  /// For people: of a run that is done its result, else what went wrong.
  std::string last_words;
  bool told_to_end = false;  ///< by SIGTERM
};

/// Fails only before anything was started or written.
Result<WholeRunEnd> whole_run(RealMachine& machine, const Registry& registry,
                              const WholeRunOptions& options);

}  // namespace sterna::launcher
