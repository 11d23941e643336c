#include "launcher/bench/actors/messages.h"

#include "runtime/message/fields.h"

namespace sterna::launcher {

STERNA_MESSAGE(Echo, FIELD(body, Body))
STERNA_MESSAGE(NoArgs)
STERNA_MESSAGE(Rate, FIELD(exchanges, Exchanges), FIELD(duration, Nanoseconds))
STERNA_MESSAGE(Drive, FIELD(targets, Targets, not_empty), FIELD(window, Window, at_least(1)),
               FIELD(duration, Nanoseconds))
STERNA_MESSAGE(DriveRaw, FIELD(endpoints, Endpoints, not_empty), FIELD(server_keys, ServerKeys),
               FIELD(window, Window, at_least(1)), FIELD(duration, Nanoseconds))
STERNA_MESSAGE(Serving, FIELD(endpoint, Endpoint), FIELD(server_key, ServerKey))
STERNA_MESSAGE(ServeRaw, FIELD(endpoint, Endpoint), FIELD(curve, Curve))
STERNA_MESSAGE(StopRaw)

Result<void> DriveRaw::check() const {
  if (server_keys.empty() || server_keys.size() == endpoints.size()) return {};
  return Error{Errc::malformed, "as many server keys as endpoints, or none"};
}

}  // namespace sterna::launcher
