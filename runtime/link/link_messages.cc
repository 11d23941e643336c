#include "runtime/link/link_messages.h"

#include "runtime/message/fields.h"

namespace sterna {

STERNA_MESSAGE(Hello, FIELD(protocol, Protocol), FIELD(schema_hash, SchemaHash),
               FIELD(build_id, BuildId), FIELD(host, Host), FIELD(run, Run),
               FIELD(session, Session), FIELD(process, Process), FIELD(incarnation, Incarnation),
               FIELD(codecs, Codecs), FIELD(credit, Credit), FIELD(resumes, Resumes),
               FIELD(received, Received), FIELD(dial, Dial))

STERNA_MESSAGE(Welcome, FIELD(accepted, Accepted), FIELD(reason, Reason), FIELD(protocol, Protocol),
               FIELD(schema_hash, SchemaHash), FIELD(build_id, BuildId), FIELD(host, Host),
               FIELD(session, Session), FIELD(process, Process), FIELD(incarnation, Incarnation),
               FIELD(codecs, Codecs), FIELD(credit, Credit), FIELD(received, Received))

STERNA_MESSAGE(Heartbeat, FIELD(credit[0], ControlCredit), FIELD(credit[1], DataCredit),
               FIELD(loop_lag, LoopLag, any_time), FIELD(queued_bytes, QueuedBytes),
               FIELD(bytes_in, BytesIn), FIELD(bytes_out, BytesOut), FIELD(actors, Actors),
               FIELD(sent, Sent, any_time), FIELD(echoed, Echoed, any_time),
               FIELD(held, Held, any_time))

STERNA_MESSAGE(Goodbye)

STERNA_MESSAGE(Redial)

STERNA_MESSAGE(Watch, FIELD(actor, Actor))

STERNA_MESSAGE(Down, FIELD(notice.actor.process, Process), FIELD(notice.actor.local, Actor),
               FIELD(notice.name, Name), FIELD(notice.incarnation, Incarnation),
               FIELD(notice.cause, Cause))

}  // namespace sterna
