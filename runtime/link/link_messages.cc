#include "runtime/link/link_messages.h"

namespace sterna {

void Hello::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProtocol(protocol);
  wire.setSchemaHash(schema_hash);
  wire.setBuildId(build_id);
  wire.setHost(host);
  wire.setRun(run);
  wire.setSession(session);
  wire.setProcess(process.value);
  wire.setIncarnation(incarnation);
  wire.setCodecs(codecs);
  wire.setCredit(credit);
}

Result<Hello> Hello::decode(Wire::Reader wire, WireReader&) {
  Hello hello;
  hello.protocol = wire.getProtocol();
  hello.schema_hash = wire.getSchemaHash();
  hello.build_id = wire.getBuildId();
  hello.host = wire.getHost();
  hello.run = wire.getRun();
  hello.session = wire.getSession();
  hello.process = {wire.getProcess()};
  hello.incarnation = wire.getIncarnation();
  hello.codecs = wire.getCodecs();
  hello.credit = wire.getCredit();
  return hello;
}

void Welcome::encode(Wire::Builder wire, WireWriter&) const {
  wire.setAccepted(accepted);
  wire.setReason(reason);
  wire.setProtocol(protocol);
  wire.setSchemaHash(schema_hash);
  wire.setBuildId(build_id);
  wire.setHost(host);
  wire.setSession(session);
  wire.setProcess(process.value);
  wire.setIncarnation(incarnation);
  wire.setCodecs(codecs);
  wire.setCredit(credit);
}

Result<Welcome> Welcome::decode(Wire::Reader wire, WireReader&) {
  Welcome welcome;
  welcome.accepted = wire.getAccepted();
  welcome.reason = wire.getReason();
  welcome.protocol = wire.getProtocol();
  welcome.schema_hash = wire.getSchemaHash();
  welcome.build_id = wire.getBuildId();
  welcome.host = wire.getHost();
  welcome.session = wire.getSession();
  welcome.process = {wire.getProcess()};
  welcome.incarnation = wire.getIncarnation();
  welcome.codecs = wire.getCodecs();
  welcome.credit = wire.getCredit();
  return welcome;
}

void Heartbeat::encode(Wire::Builder wire, WireWriter&) const {
  wire.setControlCredit(credit[0]);
  wire.setDataCredit(credit[1]);
  wire.setLoopLag(loop_lag.count());
  wire.setQueuedBytes(queued_bytes);
  wire.setBytesIn(bytes_in);
  wire.setBytesOut(bytes_out);
  wire.setActors(actors);
}

Result<Heartbeat> Heartbeat::decode(Wire::Reader wire, WireReader&) {
  Heartbeat heartbeat;
  heartbeat.credit = {wire.getControlCredit(), wire.getDataCredit()};
  heartbeat.loop_lag = Duration(wire.getLoopLag());
  heartbeat.queued_bytes = wire.getQueuedBytes();
  heartbeat.bytes_in = wire.getBytesIn();
  heartbeat.bytes_out = wire.getBytesOut();
  heartbeat.actors = wire.getActors();
  return heartbeat;
}

void Watch::encode(Wire::Builder wire, WireWriter&) const { wire.setActor(actor.value); }

Result<Watch> Watch::decode(Wire::Reader wire, WireReader&) { return Watch{{wire.getActor()}}; }

void Down::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(notice.actor.process.value);
  wire.setActor(notice.actor.local.value);
  wire.setName(notice.name);
  wire.setIncarnation(notice.incarnation);
  wire.setCause(notice.cause);
}

Result<Down> Down::decode(Wire::Reader wire, WireReader&) {
  Down down;
  down.notice.actor = {{wire.getProcess()}, {wire.getActor()}};
  down.notice.name = wire.getName();
  down.notice.incarnation = wire.getIncarnation();
  down.notice.cause = wire.getCause();
  return down;
}

}  // namespace sterna
