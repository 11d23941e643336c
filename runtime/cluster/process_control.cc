#include "runtime/cluster/process_control.h"

namespace sterna {

namespace {
/// How long a process that ends waits for its last words, and for what others still await from it.
constexpr Duration kFarewell = std::chrono::seconds(1);
constexpr Duration kFlushCheck = std::chrono::milliseconds(5);
}  // namespace

std::string silence_text(Duration silence) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(silence).count();
  return "silence: nothing was heard from it for " + std::to_string(ms) + " ms";
}

DownNotice notice_of(const ProcessDown& down) {
  return {{down.process, {}}, down.identity.name, down.identity.incarnation, down.full_cause()};
}

Inspection inspect(const Links& links) {
  const TransportCounters& transport = links.transport_counters();
  const LinkCounters& link = links.counters();
  return {transport.authentication_denials,
          transport.handshake_failures,
          transport.disconnects,
          transport.muted_messages,
          link.decode_errors,
          link.refused_hellos,
          link.sequence_gaps,
          link.faults,
          links.open_links()};
}

void report_link_end(Process& process, const Contact& peer, const std::string& cause, bool fault) {
  if (peer.identity.name.empty()) return;
  const Result<ActorRef<Agent>> above = process.agent().as<Agent>();
  if (above) process.tell(*above, LinkReport{process.id(), peer, cause, fault});
}

void report_link_troubles(Process& process) {
  process.set_on_link_trouble(
      [&process](const Contact& peer, const std::string& cause, Duration lasts, bool over) {
        const Result<ActorRef<Agent>> above = process.agent().as<Agent>();
        // Of the one above it could say so only once it is back.
        if (!above || above->id.process.value == peer.process) return;
        process.tell(*above, LinkTrouble{.from = process.id(),
                                         .to = {peer.process},
                                         .from_name = {},
                                         .to_name = {},
                                         .cause = cause,
                                         .lasts = lasts,
                                         .over = over});
      });
}

void ControlActor::on(ProcessDown down) {
  if (!from_above()) return;
  // What fails for want of it is no cause of its own.
  if (process().links()->identity_of(down.process) != nullptr) lost_.insert(down.process);
  process().process_down(notice_of(down));
}

void ControlActor::on(ProcessRestarts restarts) {
  if (!from_above()) return;
  // Whoever asks its next incarnation has lost nothing.
  lost_.erase(restarts.down.process);
  process().process_down(notice_of(restarts.down));
}

void ControlActor::on(Stop) {
  if (from_above()) process().request_stop();
}

Result<void> ControlActor::on(Strike strike) {
  STERNA_TRY(from_above());
  if (strike.kind != FaultKind::CUT) {
    return Error{Errc::invalid_argument, "nobody kills or stops itself"};
  }
  shut_connections_();
  return {};
}

Task<void> ControlActor::announcing(Contact contact, AnyRef actor) {
  Ready ready{std::move(contact), actor};
  const Result<void> heard = co_await ask(node_, std::move(ready), 2 * kControlDeadline);
  if (!heard && !leaving_)
    end_process_(kExitFailed, "the node did not hear us: " + heard.error().message);
}

Task<void> ControlActor::leaving(std::string cause) {
  if (leaving_) co_return;
  leaving_ = true;
  const Time end = now() + kFarewell;
  // Whether the node heard the words or not, the exit says the rest.
  Leaving last_words{cause, !lost_.empty()};
  (void)co_await ask(node_, std::move(last_words), kFarewell);
  while (process().links()->queued_bytes() > 0 && now() < end) co_await sleep(kFlushCheck);
  end_process_(cause.empty() ? 0 : kExitFailed, cause);
}

}  // namespace sterna
