// RunNews: what happens to a run beside training. Each is counted in the run's record, becomes an
// event where it is one, and is said to who looks at the screen.
#pragma once

#include <string>
#include <string_view>

#include "actors/job/observer.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/job_listener.h"
#include "launcher/record/event.h"
#include "launcher/record/run_record.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

class RunNews {
 public:
  /// All three outlive it.
  RunNews(const ClusterFile& file, RunRecord& record, JobListener& listener);

  /// A line of the run's log, of which the record has the last ones.
  void logged(std::string_view line);

  /// An actor has ended, or a host was drained. Of one that died while the run is `stopping`: no
  /// event.
  void ended(const ProcessDown& down, bool stopping);
  /// A lost actor is started again, on `restarts.host`.
  void comes_again(const ProcessRestarts& restarts);
  /// The run goes on without a lost worker; `left`: with what.
  void goes_on_without(const ProcessDown& down, const std::string& left);
  /// A server in the place of a lost one has the parameters again.
  void refilled(const PeerIdentity& server);
  void residuals_lost(const actors::ResidualsLost& lost);
  void link_trouble(const LinkTrouble& trouble);
  void link_pace(const LinkPace& pace);
  void host_added(const std::string& host);
  void injected(const FaultInjected& fault);
  /// `line` says which was not made and why; `all`: how many by now.
  void checkpoint_missed(const std::string& line, std::uint64_t all);
  void copy_missed(const std::string& line, std::uint64_t all);

 private:
  void note(Event event) const;
  void notice(const std::string& words) const;

  const ClusterFile& file_;
  RunRecord& record_;
  JobListener& listener_;
};

}  // namespace sterna::launcher
