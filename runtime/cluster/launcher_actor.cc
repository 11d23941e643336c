#include "runtime/cluster/launcher_actor.h"

namespace sterna {

LauncherActor::LauncherActor(Machine& machine, Process& process, Spawner& placer, Duration silence,
                             Hooks hooks)
    : LeafAgent(kCoordinatorProcess),
      silence_(silence),
      hooks_(std::move(hooks)),
      children_(placer, machine.loop(), process.timers(),
                [this](const ProcessDown& down) { child_ended(down); }) {}

void LauncherActor::on(ProcessDown down) {
  if (!from_above()) return;
  if (children_.contains(down.process)) {
    // A node of ours: the coordinator lost it, but its exit will say more; or needs it no longer.
    if (down.cause.starts_with(kSilence) || down.cause == kHostDrained) {
      children_.condemn(down.process, down.cause);
    } else {
      children_.suspect(down.process, down.cause);
    }
    return;
  }
  process().process_down(notice_of(down));
  hooks_.down(down);
}

void LauncherActor::on(ProcessRestarts restarts) {
  if (!from_above()) return;
  process().process_down(notice_of(restarts.down));
  if (hooks_.restarts) hooks_.restarts(restarts);
}

void LauncherActor::on(StatusReport report) {
  if (from_above()) hooks_.status(report);
}

void LauncherActor::on(RunEnds order) {
  if (from_above()) hooks_.end_wanted(order.cause);
}

void LauncherActor::on(LinkTrouble trouble) {
  if (from_above() && hooks_.link_trouble) hooks_.link_trouble(trouble);
}

void LauncherActor::on(FaultInjected fault) {
  if (from_above() && hooks_.fault_injected) hooks_.fault_injected(fault);
}

void LauncherActor::child_ended(const ProcessDown& ended) {
  ProcessDown down = ended;
  // A node that lost the coordinator ends for want of it: the coordinator's own end says why.
  down.consequence = down.consequence || down.exit_code == kExitLostLease;
  process().process_down(notice_of(down));
  hooks_.down(down);
}

void LauncherActor::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  if (ProcessId{peer.process} != kCoordinatorProcess) {
    report_link_end(process(), peer, cause, fault);
  } else if (cause == kSilence) {
    children_.condemn(kCoordinatorProcess, silence_text(silence_));
  } else {
    children_.suspect(kCoordinatorProcess, cause);
  }
}

}  // namespace sterna
