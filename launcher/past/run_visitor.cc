#include "launcher/past/run_visitor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace sterna::launcher {
namespace {

constexpr Duration kVisitTakes = std::chrono::seconds(5);

/// An identity that no other command uses now, and the descriptor that keeps it ours.
Result<std::pair<const OperatorKeys*, int>> free_identity(const RunState& state) {
  STERNA_ASSIGN(const RunStates states, RunStates::of_user());
  for (const OperatorKeys& keys : state.operators) {
    const std::string path = states.lock_path(state.id, keys.identity.name);
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (lock < 0) return system_error(path, errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return std::pair(&keys, lock);
    ::close(lock);
  }
  return Error{Errc::overloaded,
               fmt::format("{} commands look at {} already", state.operators.size(), state.id)};
}

}  // namespace

Result<std::unique_ptr<RunVisitor>> RunVisitor::visit(RealMachine& machine, const RunState& state,
                                                      Duration patience) {
  STERNA_ASSIGN(const auto identity, free_identity(state));
  const OperatorKeys& keys = *identity.first;
  std::unique_ptr<RunVisitor> visitor(new RunVisitor(machine, identity.second));
  Bootstrap self;
  self.kind = ProcessKind::LAUNCHER;
  self.run = state.run;
  self.run_name = state.name;
  self.process = {keys.process};
  self.identity = keys.identity;
  self.credentials = keys.credentials;
  self.network = state.network;
  self.network.bind_address = "127.0.0.1";  // it dials; nobody dials it
  self.network.address.clear();
  self.network.port_low = self.network.port_high = 0;
  if (!self.network.tcp) {
    STERNA_ASSIGN(self.network.directory, machine.make_socket_directory());
    visitor->sockets_ = self.network.directory;
  }
  self.host = "operator";
  STERNA_ASSIGN(visitor->connected_, ConnectedProcess::make(machine, self, state.schema_hash));
  RunVisitor* own = visitor.get();
  visitor->connected_->process().set_on_link_end(
      [own](const Contact&, const std::string&, bool) { own->ended_ = true; });
  Links& links = visitor->connected_->links();
  links.set_tree_peer(kCoordinatorProcess);
  links.dial(state.coordinator);
  machine.loop().run_until(
      [&] { return links.connected(kCoordinatorProcess) || own->ended_ || own->interrupted_; },
      machine.loop().now() + patience);
  if (!links.connected(kCoordinatorProcess)) {
    return Error{Errc::unavailable, fmt::format("the coordinator of {} does not answer", state.id)};
  }
  return visitor;
}

RunVisitor::~RunVisitor() {
  connected_.reset();
  if (!sockets_.empty()) machine_.remove_socket_directory(sockets_);
  ::close(lock_);
}

template <class T>
Result<T> RunVisitor::wait(Future<T> future) {
  machine_.loop().run_until([&] { return future.ready() || interrupted_; }, kNever);
  if (!future.ready()) return Error{Errc::cancelled, "interrupted"};
  return future.take();
}

Result<Overview> RunVisitor::look() {
  return wait(
      connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), Look{}, kVisitTakes));
}

Result<Inspection> RunVisitor::inspect(ProcessId process) {
  return wait(connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                        Inspect{process}, kVisitTakes));
}

Result<FilePiece> RunVisitor::read_file(const ReadFile& question) {
  return wait(connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), question,
                                        2 * kVisitTakes));
}

Result<void> RunVisitor::inject(const InjectFault& fault) {
  return wait(connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), fault,
                                        2 * kVisitTakes));
}

Result<Stopped> RunVisitor::end_run(const std::string& cause, Duration patience) {
  return wait(connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), EndRun{cause},
                                        patience));
}

Result<Drained> RunVisitor::drain(const std::string& host, Duration within) {
  return wait(connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                        Drain{host, within}, within + kControlDeadline));
}

bool RunVisitor::wait_for_end(Duration patience) {
  return machine_.loop().run_until([&] { return ended_ || interrupted_; },
                                   machine_.loop().now() + patience) &&
         ended_;
}

bool RunVisitor::pause(Duration duration) {
  machine_.loop().run_until([&] { return ended_ || interrupted_; },
                            machine_.loop().now() + duration);
  return !ended_;
}

}  // namespace sterna::launcher
