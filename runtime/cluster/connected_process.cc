#include "runtime/cluster/connected_process.h"

#include <utility>

#include "runtime/trace/trace_file.h"

namespace sterna {

namespace {

ProcessOptions options_of(const Bootstrap& bootstrap, std::uint64_t schema_hash) {
  ProcessOptions options;
  options.link.self = bootstrap.process;
  options.link.identity = bootstrap.identity;
  options.link.run = bootstrap.run;
  options.link.schema_hash = schema_hash;
  options.link.build_id = std::string("sterna 0.1.0, compiler ") + __VERSION__;
  options.link.host = bootstrap.host;
  options.link.heartbeat = bootstrap.heartbeat;
  options.link.silence = bootstrap.silence;
  options.link.patience = bootstrap.link_patience;
  options.link.slow_below = bootstrap.slow_link;
  return options;
}

/// Beside its log.
std::function<std::unique_ptr<TextSink>(std::uint64_t)> trace_of(const Bootstrap& bootstrap) {
  if (bootstrap.log_directory.empty()) return nullptr;
  const Tracer::Identity who{.name = bootstrap.identity.name,
                             .host = bootstrap.host,
                             .incarnation = bootstrap.identity.incarnation,
                             .process = bootstrap.process.value,
                             .run = bootstrap.run};
  return
      [path = bootstrap.log_directory + "/" + bootstrap.identity.name + std::string(kTraceEnding),
       who](std::uint64_t most_bytes) { return open_trace(path, most_bytes, who); };
}

}  // namespace

ConnectedProcess::ConnectedProcess(Machine& machine, const Bootstrap& bootstrap,
                                   std::uint64_t schema_hash, std::unique_ptr<Transport> transport)
    : transport_(std::move(transport), machine.loop()),
      kept_memory_(machine.kept_memory(bootstrap)),
      executor_(machine.make_executor(bootstrap.compute_threads)),
      contact_(bootstrap.contact(machine.keys().hash(bootstrap.credentials.token))),
      process_({machine.loop(), machine.random(), *executor_, &transport_,
                [&machine](std::string_view line) { machine.log(line); }, trace_of(bootstrap),
                kept_memory_.get(), bootstrap.log_directory},
               options_of(bootstrap, schema_hash)) {}

Result<std::unique_ptr<ConnectedProcess>> ConnectedProcess::make(Machine& machine,
                                                                 const Bootstrap& bootstrap,
                                                                 std::uint64_t schema_hash) {
  STERNA_ASSIGN(std::unique_ptr<Transport> transport, machine.make_transport(bootstrap));
  std::unique_ptr<ConnectedProcess> made(
      new ConnectedProcess(machine, bootstrap, schema_hash, std::move(transport)));
  // Before any dial: whoever is told of us must find us listening.
  if (Result<void> listening = made->transport_.listen(made->contact_); !listening) {
    return std::move(listening).error().in(bootstrap.identity.name + " cannot listen");
  }
  for (const Contact& peer : bootstrap.admit) made->links().admit(peer);
  return made;
}

}  // namespace sterna
