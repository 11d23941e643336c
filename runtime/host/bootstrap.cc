#include "runtime/host/bootstrap.h"

#include <utility>

#include "runtime/host/bootstrap_fields.h"

namespace sterna {

STERNA_MESSAGE(PeerContact, FIELD(contact.process, Process), FIELD(contact.identity.name, Name),
               FIELD(contact.identity.incarnation, Incarnation),
               FIELD(contact.control_endpoint, ControlEndpoint),
               FIELD(contact.data_endpoint, DataEndpoint), FIELD(contact.public_key, PublicKey),
               FIELD(contact.token_hash, TokenHash), FIELD(contact.neighbourhood, Neighbourhood))

STERNA_MESSAGE(Bootstrap, FIELD(kind, Kind), FIELD(run, Run), FIELD(run_name, RunName),
               FIELD(process, Process), FIELD(identity.name, Name),
               FIELD(identity.incarnation, Incarnation), FIELD(credentials.public_key, PublicKey),
               FIELD(credentials.secret_key, SecretKey, secret),
               FIELD(credentials.token, Token, secret), FIELD(uplink, Uplink), FIELD(admit, Admit),
               FIELD(network, Network), FIELD(host, Host), FIELD(heartbeat, Heartbeat),
               FIELD(silence, Silence), FIELD(link_patience, LinkPatience),
               FIELD(slow_link, SlowLink), FIELD(grace, Grace),
               FIELD(compute_threads, ComputeThreads), FIELD(actor_type, ActorType),
               FIELD(args, Args), FIELD(args_are_json, ArgsAreJson),
               FIELD(log_directory, LogDirectory), FIELD(lease, Lease, at_least(Duration(1))),
               FIELD(environment, Environment), FIELD(memory_limit, MemoryLimit),
               FIELD(operators, Operators), FIELD(successors, Successors), FIELD(journal, Journal))

Result<void> Bootstrap::check() const {
  if (heartbeat > Duration::zero() && silence > heartbeat) return {};
  return Error{Errc::malformed, "heartbeat and silence do not fit together"};
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

}  // namespace sterna
