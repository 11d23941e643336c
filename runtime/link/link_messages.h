// The messages that links speak among themselves (target 0): opening, heartbeats, watching.
#pragma once

#include <array>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/message/down_notice.h"
#include "runtime/message/message.h"

namespace sterna {

/// The first message on each lane of a connection, from the side that dialled.
struct Hello {
  using Wire = schema::Hello;
  std::uint32_t protocol = 0;
  std::uint64_t schema_hash = 0;
  std::string build_id;
  std::string host;
  std::uint64_t run = 0;
  std::uint64_t session = 0;
  ProcessId process;
  std::uint64_t incarnation = 0;
  std::uint32_t codecs = 0;
  std::uint64_t credit = 0;
  bool resumes = false;        ///< `session` goes on: its connection was lost
  std::uint64_t received = 0;  ///< then: the number of the message that the sender waits for
  std::uint64_t dial = 0;      ///< counts the lane's connections in this session
  STERNA_DECLARE_MESSAGE(Hello);
};

/// The answer to a Hello.
struct Welcome {
  using Wire = schema::Welcome;
  bool accepted = false;
  std::string reason;
  std::uint32_t protocol = 0;
  std::uint64_t schema_hash = 0;
  std::string build_id;
  std::string host;
  std::uint64_t session = 0;
  ProcessId process;
  std::uint64_t incarnation = 0;
  std::uint32_t codecs = 0;
  std::uint64_t credit = 0;
  std::uint64_t received = 0;  ///< as in Hello
  STERNA_DECLARE_MESSAGE(Welcome);
};

struct Heartbeat {
  using Wire = schema::Heartbeat;
  std::array<std::uint64_t, kLanes> credit = {};
  Duration loop_lag{};
  std::uint64_t queued_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t actors = 0;
  Duration sent{};    ///< by the sender's clock
  Duration echoed{};  ///< `sent` of the last that came from the receiver; 0: none has
  Duration held{};    ///< since that came
  STERNA_DECLARE_MESSAGE(Heartbeat);
};

/// The last message of a link that one side ends.
struct Goodbye {
  using Wire = schema::Goodbye;
  STERNA_DECLARE_MESSAGE(Goodbye);
};

/// From who accepted a connection to who dialled it: something did not come on this lane.
struct Redial {
  using Wire = schema::Redial;
  STERNA_DECLARE_MESSAGE(Redial);
};

struct Watch {
  using Wire = schema::Watch;
  LocalId actor;
  STERNA_DECLARE_MESSAGE(Watch);
};

struct Down {
  using Wire = schema::Down;
  DownNotice notice;
  STERNA_DECLARE_MESSAGE(Down);
};

}  // namespace sterna
