#include "runtime/host/bootstrap.h"
#include "runtime/message/known_enum.h"

#include <utility>

namespace sterna {

void encode(const Contact& contact, schema::Contact::Builder wire) {
  wire.setProcess(contact.process);
  wire.setName(contact.identity.name);
  wire.setIncarnation(contact.identity.incarnation);
  wire.setControlEndpoint(contact.control_endpoint);
  wire.setDataEndpoint(contact.data_endpoint);
  wire.setPublicKey(contact.public_key);
  wire.setTokenHash(contact.token_hash);
  wire.setNeighbourhood(contact.neighbourhood);
}

Contact decode(schema::Contact::Reader wire) {
  return {wire.getProcess(),         {wire.getName(), wire.getIncarnation()},
          wire.getControlEndpoint(), wire.getDataEndpoint(),
          wire.getPublicKey(),       wire.getTokenHash(),
          wire.getNeighbourhood()};
}

void PeerContact::encode(Wire::Builder wire, WireWriter&) const { sterna::encode(contact, wire); }
Result<PeerContact> PeerContact::decode(Wire::Reader wire, WireReader&) {
  return PeerContact{sterna::decode(wire)};
}

void encode(const NetworkOptions& network, schema::Network::Builder wire) {
  wire.setTcp(network.tcp);
  wire.setCurve(network.curve);
  wire.setDirectory(network.directory);
  wire.setBindAddress(network.bind_address);
  wire.setAddress(network.address);
  wire.setPortLow(network.port_low);
  wire.setPortHigh(network.port_high);
  wire.setNear(network.near);
  wire.setNeighbourhood(network.neighbourhood);
}

NetworkOptions decode(schema::Network::Reader wire) {
  return {wire.getTcp(),         wire.getCurve(),   wire.getDirectory(),
          wire.getBindAddress(), wire.getAddress(), wire.getPortLow(),
          wire.getPortHigh(),    wire.getNear(),    wire.getNeighbourhood()};
}

std::string Bootstrap::log_file() const {
  return log_directory.empty() ? "" : log_directory + "/" + identity.name + ".log";
}

Contact Bootstrap::contact(std::string token_hash) const {
  Contact self;
  self.process = process.value;
  self.identity = identity;
  self.public_key = credentials.public_key;
  self.token_hash = std::move(token_hash);
  self.neighbourhood = network.neighbourhood;
  return self;
}

void Bootstrap::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setKind(kind);
  wire.setRun(run);
  wire.setRunName(run_name);
  wire.setProcess(process.value);
  wire.setName(identity.name);
  wire.setIncarnation(identity.incarnation);
  wire.setPublicKey(credentials.public_key);
  wire.setSecretKey(credentials.secret_key);
  wire.setToken(credentials.token);
  sterna::encode(uplink, wire.initUplink());
  auto admitted = wire.initAdmit(static_cast<unsigned>(admit.size()));
  for (unsigned i = 0; i < admitted.size(); ++i) sterna::encode(admit[i], admitted[i]);
  sterna::encode(network, wire.initNetwork());
  wire.setHost(host);
  wire.setHeartbeat(heartbeat.count());
  wire.setSilence(silence.count());
  wire.setGrace(grace.count());
  wire.setComputeThreads(compute_threads);
  wire.setActorType(actor_type);
  wire.adoptArgs(writer.data(args));
  wire.setArgsAreJson(args_are_json);
  wire.setLogDirectory(log_directory);
  wire.setLease(lease.count());
  auto variables = wire.initEnvironment(static_cast<unsigned>(environment.size()));
  for (unsigned i = 0; i < variables.size(); ++i) variables.set(i, environment[i]);
  wire.setMemoryLimit(memory_limit);
  auto visitors = wire.initOperators(static_cast<unsigned>(operators.size()));
  for (unsigned i = 0; i < visitors.size(); ++i) sterna::encode(operators[i], visitors[i]);
}

Result<Bootstrap> Bootstrap::decode(Wire::Reader wire, WireReader& reader) {
  Bootstrap b;
  b.kind = wire.getKind();
  if (!known_enum(b.kind)) {
    return Error{Errc::malformed, "an unknown kind of process"};
  }
  b.run = wire.getRun();
  b.run_name = wire.getRunName();
  b.process = {wire.getProcess()};
  b.identity = {wire.getName(), wire.getIncarnation()};
  b.credentials = {wire.getPublicKey(), wire.getSecretKey(), wire.getToken()};
  b.uplink = sterna::decode(wire.getUplink());
  for (const auto& contact : wire.getAdmit()) b.admit.push_back(sterna::decode(contact));
  b.network = sterna::decode(wire.getNetwork());
  b.host = wire.getHost();
  b.heartbeat = Duration(wire.getHeartbeat());
  b.silence = Duration(wire.getSilence());
  b.grace = Duration(wire.getGrace());
  if (b.heartbeat <= Duration::zero() || b.silence <= b.heartbeat || b.grace < Duration::zero()) {
    return Error{Errc::malformed, "heartbeat, silence and grace do not fit together"};
  }
  b.compute_threads = wire.getComputeThreads();
  b.actor_type = wire.getActorType();
  b.args = reader.bytes(wire.getArgs());
  b.args_are_json = wire.getArgsAreJson();
  b.log_directory = wire.getLogDirectory();
  b.lease = Duration(wire.getLease());
  if (b.lease <= Duration::zero()) return Error{Errc::malformed, "a lease of no time"};
  for (const auto& variable : wire.getEnvironment()) b.environment.emplace_back(variable);
  b.memory_limit = wire.getMemoryLimit();
  for (const auto& contact : wire.getOperators()) {
    b.operators.push_back(sterna::decode(contact));
  }
  return b;
}

}  // namespace sterna
