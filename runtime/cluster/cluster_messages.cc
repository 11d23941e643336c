#include "runtime/cluster/cluster_messages.h"

namespace sterna {

namespace {

void encode_ref(const AnyRef& ref, schema::ActorAddress::Builder wire) {
  wire.setProcess(ref.id.process.value);
  wire.setLocal(ref.id.local.value);
  wire.setInterface(ref.interface_id);
}

AnyRef decode_ref(schema::ActorAddress::Reader wire) {
  return {{{wire.getProcess()}, {wire.getLocal()}}, wire.getInterface()};
}

/// A time to wait. Receivers add it to their clock, so one beyond reason would overflow.
Result<Duration> decode_wait(std::int64_t nanoseconds) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);
  const Duration wait(nanoseconds);
  if (wait < Duration::zero() || wait > kLongest) {
    return Error{Errc::malformed, "a wait of " + std::to_string(nanoseconds) + " ns"};
  }
  return wait;
}

}  // namespace

void Found::encode(Wire::Builder wire, WireWriter&) const {
  encode_ref(actor, wire.initActor());
  wire.setIncarnation(incarnation);
}
Result<Found> Found::decode(Wire::Reader wire, WireReader&) {
  return Found{decode_ref(wire.getActor()), wire.getIncarnation()};
}

void Find::encode(Wire::Builder wire, WireWriter&) const {
  wire.setName(name);
  wire.setDeadline(patience.count());
}
Result<Find> Find::decode(Wire::Reader wire, WireReader&) {
  STERNA_ASSIGN(const Duration patience, decode_wait(wire.getDeadline()));
  return Find{wire.getName(), patience};
}

void Connect::encode(Wire::Builder wire, WireWriter&) const {
  wire.setFrom(from.value);
  wire.setTo(to.value);
}
Result<Connect> Connect::decode(Wire::Reader wire, WireReader&) {
  return Connect{{wire.getFrom()}, {wire.getTo()}};
}

void LinkReport::encode(Wire::Builder wire, WireWriter&) const {
  wire.setFrom(from.value);
  sterna::encode(peer, wire.initPeer());
  wire.setCause(cause);
  wire.setFault(fault);
}
Result<LinkReport> LinkReport::decode(Wire::Reader wire, WireReader&) {
  return LinkReport{
      {wire.getFrom()}, sterna::decode(wire.getPeer()), wire.getCause(), wire.getFault()};
}

void Ready::encode(Wire::Builder wire, WireWriter&) const {
  sterna::encode(contact, wire.initContact());
  encode_ref(actor, wire.initActor());
}
Result<Ready> Ready::decode(Wire::Reader wire, WireReader&) {
  return Ready{sterna::decode(wire.getContact()), decode_ref(wire.getActor())};
}

void Leaving::encode(Wire::Builder wire, WireWriter&) const {
  wire.setCause(cause);
  wire.setBereft(bereft);
}
Result<Leaving> Leaving::decode(Wire::Reader wire, WireReader&) {
  return Leaving{wire.getCause(), wire.getBereft()};
}

void AddNode::encode(Wire::Builder wire, WireWriter&) const {
  wire.setHost(host);
  sterna::encode(network, wire.initNetwork());
  wire.setLogDirectory(log_directory);
  auto variables = wire.initEnvironment(static_cast<unsigned>(environment.size()));
  for (unsigned i = 0; i < variables.size(); ++i) variables.set(i, environment[i]);
}
Result<AddNode> AddNode::decode(Wire::Reader wire, WireReader&) {
  AddNode add{wire.getHost(), sterna::decode(wire.getNetwork()), wire.getLogDirectory(), {}};
  for (const auto& variable : wire.getEnvironment()) add.environment.emplace_back(variable);
  return add;
}

void Started::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  wire.setPid(pid);
  encode_ref(actor, wire.initActor());
}
Result<Started> Started::decode(Wire::Reader wire, WireReader&) {
  return Started{{wire.getProcess()}, wire.getPid(), decode_ref(wire.getActor())};
}

void StartActor::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setName(name);
  wire.setType(type);
  wire.adoptArgs(writer.data(args));
  wire.setHost(host);
  wire.setComputeThreads(compute_threads);
  wire.setDeadline(patience.count());
  auto variables = wire.initEnvironment(static_cast<unsigned>(environment.size()));
  for (unsigned i = 0; i < variables.size(); ++i) variables.set(i, environment[i]);
  wire.setMemoryLimit(memory_limit);
  wire.setArgsAreJson(args_are_json);
}
Result<StartActor> StartActor::decode(Wire::Reader wire, WireReader& reader) {
  STERNA_ASSIGN(const Duration patience, decode_wait(wire.getDeadline()));
  StartActor start;
  start.name = wire.getName();
  start.type = wire.getType();
  start.args = reader.bytes(wire.getArgs());
  start.host = wire.getHost();
  start.compute_threads = wire.getComputeThreads();
  start.patience = patience;
  start.memory_limit = wire.getMemoryLimit();
  start.args_are_json = wire.getArgsAreJson();
  for (const auto& variable : wire.getEnvironment()) start.environment.emplace_back(variable);
  return start;
}

void Stopped::encode(Wire::Builder wire, WireWriter&) const {
  wire.setStopped(stopped);
  wire.setKilled(killed);
}
Result<Stopped> Stopped::decode(Wire::Reader wire, WireReader&) {
  return Stopped{wire.getStopped(), wire.getKilled()};
}

void Shutdown::encode(Wire::Builder wire, WireWriter&) const { wire.setGrace(grace.count()); }
Result<Shutdown> Shutdown::decode(Wire::Reader wire, WireReader&) {
  STERNA_ASSIGN(const Duration grace, decode_wait(wire.getGrace()));
  return Shutdown{grace};
}

void Publish::encode(Wire::Builder wire, WireWriter&) const {
  wire.setName(name);
  encode_ref(actor, wire.initActor());
}
Result<Publish> Publish::decode(Wire::Reader wire, WireReader&) {
  return Publish{wire.getName(), decode_ref(wire.getActor())};
}

void AdmitExtra::encode(Wire::Builder wire, WireWriter&) const {
  wire.setName(name);
  sterna::encode(extra, wire.initExtra());
}
Result<AdmitExtra> AdmitExtra::decode(Wire::Reader wire, WireReader&) {
  return AdmitExtra{wire.getName(), sterna::decode(wire.getExtra())};
}

void Spawned::encode(Wire::Builder wire, WireWriter&) const { wire.setPid(pid); }
Result<Spawned> Spawned::decode(Wire::Reader wire, WireReader&) { return Spawned{wire.getPid()}; }

void StartProcess::encode(Wire::Builder wire, WireWriter& writer) const {
  bootstrap.encode(wire.initBootstrap(), writer);
}
Result<StartProcess> StartProcess::decode(Wire::Reader wire, WireReader& reader) {
  STERNA_ASSIGN(Bootstrap bootstrap, Bootstrap::decode(wire.getBootstrap(), reader));
  return StartProcess{std::move(bootstrap)};
}

void Admit::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  sterna::encode(contact, wire.initContact());
}
Result<Admit> Admit::decode(Wire::Reader wire, WireReader&) {
  return Admit{{wire.getProcess()}, sterna::decode(wire.getContact())};
}

void Dial::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  sterna::encode(contact, wire.initContact());
}
Result<Dial> Dial::decode(Wire::Reader wire, WireReader&) {
  return Dial{{wire.getProcess()}, sterna::decode(wire.getContact())};
}

void EndProcess::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  wire.setCause(cause);
  wire.setAtOnce(at_once);
}
Result<EndProcess> EndProcess::decode(Wire::Reader wire, WireReader&) {
  return EndProcess{{wire.getProcess()}, wire.getCause(), wire.getAtOnce()};
}

void StopAll::encode(Wire::Builder wire, WireWriter&) const { wire.setGrace(grace.count()); }
Result<StopAll> StopAll::decode(Wire::Reader wire, WireReader&) {
  STERNA_ASSIGN(const Duration grace, decode_wait(wire.getGrace()));
  return StopAll{grace};
}

void Stop::encode(Wire::Builder, WireWriter&) const {}
Result<Stop> Stop::decode(Wire::Reader, WireReader&) { return Stop{}; }

void Renew::encode(Wire::Builder, WireWriter&) const {}
Result<Renew> Renew::decode(Wire::Reader, WireReader&) { return Renew{}; }

void FilePiece::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setSize(size);
  wire.adoptBytes(writer.data(bytes));
}
Result<FilePiece> FilePiece::decode(Wire::Reader wire, WireReader& reader) {
  return FilePiece{wire.getSize(), reader.bytes(wire.getBytes())};
}

void ReadFile::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  wire.setName(name);
  wire.setOffset(offset);
  wire.setLimit(limit);
}
Result<ReadFile> ReadFile::decode(Wire::Reader wire, WireReader&) {
  return ReadFile{{wire.getProcess()}, wire.getName(), wire.getOffset(), wire.getLimit()};
}

void Inspection::encode(Wire::Builder wire, WireWriter&) const {
  wire.setAuthenticationDenials(authentication_denials);
  wire.setHandshakeFailures(handshake_failures);
  wire.setDisconnects(disconnects);
  wire.setMutedMessages(muted_messages);
  wire.setDecodeErrors(decode_errors);
  wire.setRefusedHellos(refused_hellos);
  wire.setSequenceGaps(sequence_gaps);
  wire.setFaults(faults);
  wire.setOpenLinks(open_links);
}
Result<Inspection> Inspection::decode(Wire::Reader wire, WireReader&) {
  return Inspection{wire.getAuthenticationDenials(),
                    wire.getHandshakeFailures(),
                    wire.getDisconnects(),
                    wire.getMutedMessages(),
                    wire.getDecodeErrors(),
                    wire.getRefusedHellos(),
                    wire.getSequenceGaps(),
                    wire.getFaults(),
                    wire.getOpenLinks()};
}

void Inspect::encode(Wire::Builder wire, WireWriter&) const { wire.setProcess(process.value); }
Result<Inspect> Inspect::decode(Wire::Reader wire, WireReader&) {
  return Inspect{{wire.getProcess()}};
}

std::string ProcessDown::full_cause() const {
  std::string text = cause;
  for (std::size_t i = 0; i < last_lines.size(); ++i) {
    text += (i == 0 ? "; it logged last: " : " | ") + last_lines[i];
  }
  return text;
}

void ProcessDown::encode(Wire::Builder wire, WireWriter&) const {
  wire.setProcess(process.value);
  wire.setName(identity.name);
  wire.setIncarnation(identity.incarnation);
  wire.setExitCode(exit_code);
  wire.setSignal(signal);
  wire.setCause(cause);
  auto lines = wire.initLastLines(static_cast<unsigned>(last_lines.size()));
  for (unsigned i = 0; i < lines.size(); ++i) lines.set(i, last_lines[i]);
  wire.setConsequence(consequence);
  wire.setWanted(wanted);
}
Result<ProcessDown> ProcessDown::decode(Wire::Reader wire, WireReader&) {
  ProcessDown down;
  down.process = {wire.getProcess()};
  down.identity = {wire.getName(), wire.getIncarnation()};
  down.exit_code = wire.getExitCode();
  down.signal = wire.getSignal();
  down.cause = wire.getCause();
  for (const auto& line : wire.getLastLines()) down.last_lines.emplace_back(line);
  down.consequence = wire.getConsequence();
  down.wanted = wire.getWanted();
  return down;
}

namespace {

void encode_status(const ProcessStatus& status, schema::ProcessStatus::Builder entry) {
  entry.setProcess(status.process.value);
  entry.setName(status.identity.name);
  entry.setIncarnation(status.identity.incarnation);
  entry.setHost(status.host);
  entry.setPid(status.pid);
  entry.setState(status.state);
  entry.setResidentBytes(status.resident_bytes);
  entry.setLoopLag(status.loop_lag.count());
  entry.setQueuedBytes(status.queued_bytes);
  entry.setBytesIn(status.bytes_in);
  entry.setBytesOut(status.bytes_out);
  entry.setActors(status.actors);
}

ProcessStatus decode_status(schema::ProcessStatus::Reader entry) {
  return {{entry.getProcess()},
          {entry.getName(), entry.getIncarnation()},
          entry.getHost(),
          entry.getPid(),
          entry.getState(),
          entry.getResidentBytes(),
          Duration(entry.getLoopLag()),
          entry.getQueuedBytes(),
          entry.getBytesIn(),
          entry.getBytesOut(),
          entry.getActors()};
}

}  // namespace

void StatusReport::encode(Wire::Builder wire, WireWriter&) const {
  auto list = wire.initProcesses(static_cast<unsigned>(processes.size()));
  for (unsigned i = 0; i < list.size(); ++i) encode_status(processes[i], list[i]);
}
Result<StatusReport> StatusReport::decode(Wire::Reader wire, WireReader&) {
  StatusReport report;
  for (const auto& entry : wire.getProcesses()) report.processes.push_back(decode_status(entry));
  return report;
}

void Overview::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setRun(run);
  wire.setName(name);
  wire.setStopping(stopping);
  auto list = wire.initMembers(static_cast<unsigned>(members.size()));
  for (unsigned i = 0; i < list.size(); ++i) encode_status(members[i], list[i]);
  wire.adoptReport(writer.data(report));
}
Result<Overview> Overview::decode(Wire::Reader wire, WireReader& reader) {
  Overview overview{wire.getRun(), wire.getName(), wire.getStopping(), {}, {}};
  for (const auto& entry : wire.getMembers()) overview.members.push_back(decode_status(entry));
  overview.report = reader.bytes(wire.getReport());
  return overview;
}

void Look::encode(Wire::Builder, WireWriter&) const {}
Result<Look> Look::decode(Wire::Reader, WireReader&) { return Look{}; }

void EndRun::encode(Wire::Builder wire, WireWriter&) const { wire.setCause(cause); }
Result<EndRun> EndRun::decode(Wire::Reader wire, WireReader&) { return EndRun{wire.getCause()}; }

void RunEnds::encode(Wire::Builder wire, WireWriter&) const { wire.setCause(cause); }
Result<RunEnds> RunEnds::decode(Wire::Reader wire, WireReader&) { return RunEnds{wire.getCause()}; }

void Report::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.adoptText(writer.data(text));
}
Result<Report> Report::decode(Wire::Reader wire, WireReader& reader) {
  return Report{reader.bytes(wire.getText())};
}

}  // namespace sterna
