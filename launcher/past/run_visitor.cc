#include "launcher/past/run_visitor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace sterna::launcher {
namespace {

constexpr Duration kVisitTakes = std::chrono::seconds(5);
/// A coordinator that was lost; or else the run has ended.
constexpr Duration kComesAgainWithin = std::chrono::seconds(3);
constexpr Duration kLookAgain = std::chrono::milliseconds(50);

/// An identity that no other command uses now, and the descriptor that keeps it ours.
Result<std::pair<const OperatorKeys*, int>> free_identity(const RunState& state) {
  STERNA_ASSIGN(const RunStates states, RunStates::of_user());
  if (state.operators.empty()) {
    return Error{Errc::unavailable, fmt::format("nothing of {} answers", state.id)};
  }
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
  std::unique_ptr<RunVisitor> visitor(
      new RunVisitor(machine, state, *identity.first, identity.second));
  if (!state.network.tcp) {
    STERNA_ASSIGN(visitor->sockets_, NearDirectory::make(kNoRun));
  }
  STERNA_TRY(visitor->connect(patience));
  return visitor;
}

/// Until somebody answers, or nobody will.
Result<void> RunVisitor::connect(Duration patience) {
  const Loop& loop = machine_.loop();
  const Time until = loop.now() + patience;
  while (true) {
    STERNA_TRY(dial());
    machine_.loop().run_until([&] { return connected() || ended_ || interrupted_; }, until);
    if (connected()) return {};
    if (interrupted_ || loop.now() >= until || !look_where_it_is()) break;
    machine_.loop().run_until([&] { return interrupted_; },
                              std::min(until, loop.now() + kLookAgain));
  }
  ended_ = true;
  return Error{Errc::unavailable, fmt::format("the coordinator of {} does not answer", state_.id)};
}

Result<void> RunVisitor::dial() {
  Bootstrap self;
  self.kind = ProcessKind::LAUNCHER;
  self.run = state_.run;
  self.run_name = state_.name;
  self.process = {keys_.process};
  self.identity = keys_.identity;
  self.credentials = keys_.credentials;
  self.network = state_.network;
  self.network.bind_address = "127.0.0.1";  // it dials; nobody dials it
  self.network.address.clear();
  self.network.port_low = self.network.port_high = 0;
  if (!self.network.tcp) self.network.directory = sockets_->path();
  self.host = "operator";
  connected_.reset();
  STERNA_ASSIGN(connected_, ConnectedProcess::make(machine_, self, state_.schema_hash));
  ended_ = false;
  connected_->process().set_on_link_end(
      [this](const Contact&, const std::string&, bool) { ended_ = true; });
  connected_->links().set_tree_peer(kCoordinatorProcess);
  connected_->links().dial(state_.coordinator);
  return {};
}

bool RunVisitor::connected() const {
  return connected_ != nullptr && connected_->links().connected(kCoordinatorProcess);
}

/// Reads where it is by now. False: who keeps the run is gone, or is not to be seen from here.
bool RunVisitor::look_where_it_is() {
  const Keeper& keeper = state_.keeper;
  if (keeper.machine != Keeper::this_process().machine || keeper.is_gone()) return false;
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return false;
  Result<RunState> now = states->find(state_.id);
  if (!now || now->id != state_.id || !now->ended.empty()) return false;
  state_ = std::move(now).value();
  return true;
}

RunVisitor::~RunVisitor() {
  connected_.reset();
  sockets_.reset();
  ::close(lock_);
}

template <class T>
Result<T> RunVisitor::wait(Future<T> future) {
  machine_.loop().run_until([&] { return future.ready() || interrupted_; }, kNever);
  if (!future.ready()) return Error{Errc::cancelled, "interrupted"};
  return future.take();
}

template <class M>
Result<ReplyTo<M>> RunVisitor::ask(const M& message, Duration deadline) {
  if (ended_) return Error{Errc::unavailable, "the coordinator is gone"};
  return wait(
      connected_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), M(message), deadline));
}

/// The same, of those that follow it, too.
template <class M>
Result<ReplyTo<M>> RunVisitor::ask_again(const M& message, Duration deadline) {
  while (true) {
    Result<ReplyTo<M>> answer = ask(message, deadline);
    if (answer || !ended_ || interrupted_) return answer;
    if (const Result<void> back = connect(kComesAgainWithin); !back) return back.error();
  }
}

Result<Overview> RunVisitor::look() { return ask_again(Look{}, kVisitTakes); }

Result<Inspection> RunVisitor::inspect(ProcessId process) {
  return ask_again(Inspect{process}, kVisitTakes);
}

Result<FilePiece> RunVisitor::read_file(const ReadFile& question) {
  return ask_again(question, 2 * kVisitTakes);
}

Result<void> RunVisitor::inject(const InjectFault& fault) { return ask(fault, 2 * kVisitTakes); }

Result<Stopped> RunVisitor::end_run(const std::string& cause, Duration patience) {
  return ask(EndRun{cause}, patience);
}

Result<Moved> RunVisitor::drain(const std::string& host, Duration within) {
  return ask_again(Drain{host, within}, within + kControlDeadline);
}

Result<Moved> RunVisitor::move(const std::string& actor, const std::string& host, Duration within) {
  return ask_again(Move{actor, host, within}, within + kControlDeadline);
}

Result<void> RunVisitor::add_host(const std::string& host, Duration within) {
  return ask_again(AddHost{host, within}, within + 3 * kControlDeadline);
}

bool RunVisitor::wait_for_end(Duration patience) {
  return machine_.loop().run_until([&] { return ended_ || interrupted_; },
                                   machine_.loop().now() + patience) &&
         ended_;
}

bool RunVisitor::pause(Duration duration) {
  machine_.loop().run_until([&] { return ended_ || interrupted_; },
                            machine_.loop().now() + duration);
  return !ended_ || (!interrupted_ && connect(kComesAgainWithin).ok());
}

}  // namespace sterna::launcher
