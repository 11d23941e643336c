#include "runtime/cluster/process_control.h"

#include <algorithm>

namespace sterna {

namespace {
/// How long a process that ends waits for its last words, and for what others still await from it.
constexpr Duration kFarewell = std::chrono::seconds(1);
constexpr Duration kFlushCheck = std::chrono::milliseconds(5);
}  // namespace

bool is_reserved_name(std::string_view name) {
  return name == "coordinator" || name == "launcher" || name == "node" ||
         name.starts_with(kNodePrefix);
}

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
  process.set_on_link_pace(
      [&process](const Contact& peer, std::uint64_t rate, Duration lasts, bool over) {
        const Result<ActorRef<Agent>> above = process.agent().as<Agent>();
        if (!above) return;
        process.tell(*above, LinkPace{.from = process.id(),
                                      .to = {peer.process},
                                      .from_name = {},
                                      .to_name = {},
                                      .from_host = {},
                                      .to_host = {},
                                      .rate = rate,
                                      .lasts = lasts,
                                      .over = over});
      });
}

void ControlActor::on(ProcessDown down) {
  if (!from_above()) return;
  // What fails for want of it is no cause of its own, also where it never reached it.
  const bool linked = process().links()->identity_of(down.process) != nullptr;
  const bool node = down.identity.name.starts_with(kNodePrefix);
  const bool lost = linked || lost_.contains(down.process);
  if (lost || (!down.wanted && !node)) lost_[down.process] = true;
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
  return suffer_(strike);
}

Task<void> ControlActor::announcing(Contact contact, AnyRef actor) {
  const Ready ready{std::move(contact), actor};
  Result<void> heard;
  while (!leaving_) {
    Future<void> answer = ask(node_, Ready(ready), 2 * kControlDeadline);
    heard = co_await answer;
    // Its node lives, and waits for a coordinator.
    if (heard || !may_yet_be_answered(heard.error().code)) break;
    co_await sleep(kAskAgain);
  }
  if (!heard && !leaving_)
    end_process_(kExitFailed, "the node did not hear us: " + heard.error().message);
}

Task<void> ControlActor::leaving(std::string cause) {
  if (leaving_) co_return;
  leaving_ = true;
  const Time end = now() + kFarewell;
  // Whether the node heard the words or not, the exit says the rest.
  Leaving last_words{.cause = cause};
  bool somebody_dead = process().missing_somebody();
  last_words.bereft = somebody_dead;
  for (const auto& [peer, dead] : lost_) {
    if (process().links()->connected(peer)) continue;  // over a new link
    last_words.bereft = true;
    somebody_dead = somebody_dead || dead;
  }
  last_words.unreached = last_words.bereft && !somebody_dead;
  auto asked = ask(node_, std::move(last_words), kFarewell);
  (void)co_await asked;
  while (process().links()->queued_bytes() > 0 && now() < end) co_await sleep(kFlushCheck);
  end_process_(cause.empty() ? 0 : kExitFailed, cause);
}

}  // namespace sterna
