// ZmqTransport: what the socket monitors tell of connections.
#include <algorithm>

#include "runtime/transport/handshake.h"
#include "runtime/zmq/zmq_endpoints.h"
#include "runtime/zmq/zmq_transport_state.h"

namespace sterna {

namespace {

// libzmq reads its clock only now and then: its timers may fire a little early.
constexpr Duration kEarly = std::chrono::milliseconds(10);

}  // namespace

/// How long somebody who listens there may be silent before we, or he, give the handshake up:
/// whoever is busy does not hear either who asks him.
Duration ZmqTransport::patience_at(const std::string& endpoint) const {
  return is_tcp(endpoint) ? std::min(options_.answer_timeout, options_.handshake_timeout)
                          : options_.answer_timeout;
}

void ZmqTransport::drain_monitor(Port& port) {
  SocketMonitor::Event event;
  while (port.monitor.next(event)) {
    if (port.dials) {
      dial_event(port, event);
    } else {
      bound_event(port, event);
    }
  }
}

void ZmqTransport::bound_event(Port& port, const SocketMonitor::Event& event) {
  const int descriptor = static_cast<int>(event.value);
  switch (event.kind) {
    case ZMQ_EVENT_ACCEPTED:
      port.by_descriptor[descriptor] = 0;
      break;
    case ZMQ_EVENT_DISCONNECTED: {
      const auto connection = port.by_descriptor.extract(descriptor);
      const ChannelId id = connection.empty() ? 0 : connection.mapped();
      if (id != 0) {
        ++counters_.disconnects;
        if (Channel* channel = find(id)) close_later(*channel, std::string(kConnectionLost));
      } else if (port.failed_handshakes > 0) {
        --port.failed_handshakes;  // counted when it failed
      } else {
        ++counters_.disconnects;
        port.parted.push_back(descriptor);
        port.watch.touch();
      }
      break;
    }
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:  // the ZAP handler has counted and told it
      ++port.failed_handshakes;
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      ++port.failed_handshakes;
      ++counters_.handshake_failures;
      notice("a handshake failed at " + event.endpoint + " of " + self_.text() +
             ": the peer ended meanwhile, has no valid credentials, or is none of ours");
      break;
    default:
      break;
  }
}

void ZmqTransport::dial_event(Port& port, const SocketMonitor::Event& event) {
  const auto found = port.by_spelling.find(event.endpoint);
  if (found == port.by_spelling.end()) return;  // of a channel that is forgotten
  Channel& channel = *found->second;
  const std::string& peer = channel.identity.text();
  switch (event.kind) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      channel.answered = true;
      break;
    case ZMQ_EVENT_CLOSED:
      close_later(channel, "nobody answers at " + unspelt(event.endpoint) + ", where " +
                               self_.text() + " asked for " + peer +
                               (is_tcp(event.endpoint) ? ": does it still run, and does a firewall "
                                                         "let its ports through?"
                                                       : ": does it still run?"));
      break;
    case ZMQ_EVENT_DISCONNECTED:
      if (channel.answered) ++counters_.disconnects;
      close_later(channel, channel.cause.empty() ? std::string(kConnectionLost) : channel.cause);
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      ++counters_.handshake_failures;
      channel.cause = peer + " does not admit " + self_.text();
      channel.denied = true;
      notice(channel.cause);
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      ++counters_.handshake_failures;
      channel.cause = "the handshake with " + peer + " " + std::string(kHandshakeFailed);
      if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL &&
          loop_.now() - channel.dialled + kEarly >= patience_at(event.endpoint)) {
        channel.cause = "silence: " + peer + " took no part in the handshake";
      }
      notice(channel.cause);
      break;
    default:
      break;
  }
}

}  // namespace sterna
