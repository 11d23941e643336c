// Children: the processes that a node (or the launcher) has started, from spawn to the words on
// their grave.
//
// Several things may announce one death: its own last words, a lost link, silence, the verdict of
// the coordinator, the exit. The exit ends it, exactly once; the others only decide what the cause
// is, and whether it has to be killed first. One that SIGKILL does not end is told of as dead, and
// its exit no more. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/cluster/cluster_messages.h"
#include "runtime/host/spawner.h"
#include "runtime/loop/timers.h"

namespace sterna {

class Children {
 public:
  /// Called once per child, after its exit, or some seconds after it was condemned.
  using OnEnd = std::function<void(const ProcessDown&)>;

  Children(Spawner& spawner, const Clock& clock, Timers& timers, OnEnd on_end);
  /// Kills those who are left; their ends are no longer reported.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  Result<std::int64_t> spawn(const Bootstrap& bootstrap,
                             std::function<void(const Contact&)> on_contact = {});
  /// Its last words: it is about to exit with this cause (empty: as it should).
  void leaving(ProcessId process, const Leaving& last_words);
  /// It has been asked to stop: its end is no failure.
  void want_end(ProcessId process);
  /// Its link was lost: it is probably dead, and its exit will say why. If it is still there after
  /// a second it is killed, with this cause.
  void suspect(ProcessId process, const std::string& cause);
  /// Kills it, with this cause.
  void condemn(ProcessId process, const std::string& cause);
  /// Kills it; whether it should have ended is another's question.
  void kill(ProcessId process);
  void kill_all();
  /// Stops it, and lets it go on; harmless once it has ended.
  void freeze(ProcessId process);
  void thaw(ProcessId process);

  bool contains(ProcessId process) const { return children_.contains(process); }
  /// The system's; 0: it is not there.
  std::int64_t pid_of(ProcessId process) const;
  bool empty() const { return children_.empty(); }
  std::size_t size() const { return children_.size(); }
  /// For each child: (process id, its Bootstrap, system's pid, whether its end is wanted).
  void for_each(
      const std::function<void(ProcessId, const Bootstrap&, std::int64_t, bool)>& visit) const;

 private:
  struct Child;
  Child* find(ProcessId process);
  void give_up(Child& child);
  void ended(ProcessId process, const ProcessExit& exit);

  Spawner& spawner_;
  const Clock& clock_;
  Timers& timers_;
  OnEnd on_end_;
  std::map<ProcessId, std::unique_ptr<Child>> children_;
  std::shared_ptr<Children*> alive_;
};

}  // namespace sterna
