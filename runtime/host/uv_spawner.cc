#include "runtime/host/uv_spawner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "runtime/host/process_names.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {

/// Longer answers are not ours.
constexpr std::size_t kAnswerLimit = 1U << 20;

/// This process's environment with the child's own variables. OpenMP's threads sleep while they
/// wait: there may be more of them than cores.
std::vector<std::string> child_environment(const std::vector<std::string>& own) {
  std::map<std::string, std::string> variables;
  const auto set = [&](std::string_view variable) {
    const std::size_t name = variable.find('=');
    if (name != std::string_view::npos) {
      variables[std::string(variable.substr(0, name))] = variable.substr(name + 1);
    }
  };
  for (char** entry = environ; *entry != nullptr; ++entry) set(*entry);
  set("OMP_WAIT_POLICY=PASSIVE");
  set("GOMP_SPINCOUNT=0");
  for (const std::string& variable : own) set(variable);
  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    environment.push_back(name);
    environment.back().append("=").append(value);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

Error uv_error(const std::string& what, int code) {
  return {Errc::io, what + ": " + uv_strerror(code)};
}

}  // namespace

/// A running child and its pipes. Freed once its handles are closed.
struct UvSpawner::Child {
  UvSpawner* owner = nullptr;
  std::int64_t pid = 0;
  Callbacks callbacks;
  uv_process_t process{};
  uv_pipe_t input{};
  uv_pipe_t answer{};
  uv_write_t write{};
  Bytes told;
  std::vector<char> buffer = std::vector<char>(4096);
  std::vector<char> answered;
  int unclosed = 0;  ///< handles that libuv has not closed yet
  bool closing = false;

  void add_pipe(uv_loop_t* loop, uv_pipe_t& pipe) {
    uv_pipe_init(loop, &pipe, 0);
    pipe.data = this;
    ++unclosed;
  }
  template <class Handle>
  void close(Handle& handle) {
    auto* base = reinterpret_cast<uv_handle_t*>(&handle);
    if (base->loop == nullptr || uv_is_closing(base) != 0) return;
    uv_close(base, [](uv_handle_t* closed) {
      auto* child = static_cast<Child*>(closed->data);
      if (--child->unclosed == 0 && child->closing) delete child;
    });
  }
  void close_all() {
    closing = true;
    close(process);
    close(input);
    close(answer);
  }
  void tell();
  void listen();
};

void UvSpawner::Child::tell() {
  uv_buf_t bytes = uv_buf_init(
      const_cast<char*>(reinterpret_cast<const char*>(told.data())),  // NOLINT: libuv's signature
      static_cast<unsigned>(told.size()));
  write.data = this;
  uv_write(&write, reinterpret_cast<uv_stream_t*>(&input), &bytes, 1, [](uv_write_t* request, int) {
    // Written or not, the end of the pipe ends the child's reading; it checks what it got.
    auto* child = static_cast<Child*>(request->data);
    child->told = {};
    child->close(child->input);
  });
}

void UvSpawner::Child::listen() {
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&answer),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* space) {
        auto* child = static_cast<Child*>(handle->data);
        *space = uv_buf_init(child->buffer.data(), static_cast<unsigned>(child->buffer.size()));
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t* bytes) {
        auto* child = static_cast<Child*>(stream->data);
        if (size > 0 && child->answered.size() < kAnswerLimit) {
          child->answered.insert(child->answered.end(), bytes->base, bytes->base + size);
        }
        if (size >= 0) return;
        child->close(child->answer);
        const auto contact = unpack<PeerContact>(std::as_bytes(std::span(child->answered)));
        if (contact && child->callbacks.on_contact) child->callbacks.on_contact(contact->contact);
      });
}

UvSpawner::UvSpawner(UvLoop& loop) : name_(own_program_name()), loop_(loop) {}

UvSpawner::~UvSpawner() {
  std::vector<std::int64_t> killed;
  for (const auto& [pid, child] : children_) {
    kill(pid);
    child->owner = nullptr;
    child->close_all();
    killed.push_back(pid);
  }
  reap_killed(std::move(killed));
  if (child_signal_ != nullptr) {
    uv_close(reinterpret_cast<uv_handle_t*>(child_signal_),
             [](uv_handle_t* closed) { delete reinterpret_cast<uv_signal_t*>(closed); });
  }
}

Result<std::int64_t> UvSpawner::spawn(const Bootstrap& bootstrap, Callbacks callbacks) {
  watch_orphans();
  int log = STDERR_FILENO;
  if (const std::string path = bootstrap.log_file(); !path.empty()) {
    log = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (log < 0) return system_error("cannot write " + path, errno);
  }
  auto* child = new Child;
  child->owner = this;
  child->callbacks = std::move(callbacks);
  child->told = pack(bootstrap);
  child->process.data = child;
  child->add_pipe(loop_.uv(), child->input);

  std::vector<uv_stdio_container_t> stdio(3);
  stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[0].data.stream = reinterpret_cast<uv_stream_t*>(&child->input);
  stdio[1].flags = stdio[2].flags = UV_INHERIT_FD;
  stdio[1].data.fd = stdio[2].data.fd = log;
  if (child->callbacks.on_contact) {
    child->add_pipe(loop_.uv(), child->answer);
    stdio.resize(kAnswerDescriptor + 1);
    stdio[kAnswerDescriptor].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
    stdio[kAnswerDescriptor].data.stream = reinterpret_cast<uv_stream_t*>(&child->answer);
  }
  if (const int kept = kept_for(bootstrap); kept >= 0) {
    stdio.resize(kKeptDescriptor + 1);
    stdio[kKeptDescriptor].flags = UV_INHERIT_FD;
    stdio[kKeptDescriptor].data.fd = kept;
  }
  std::vector<std::string> arguments =
      child_arguments(name_, bootstrap.identity.name, bootstrap.run, ::getpid());
  std::vector<std::string> environment = child_environment(bootstrap.environment);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> env = pointers(environment);
  uv_process_options_t options{};
  options.file = program_.c_str();
  options.args = argv.data();
  options.env = env.data();
  options.flags = UV_PROCESS_DETACHED;  // a session, and so a process group, of its own
  options.stdio = stdio.data();
  options.stdio_count = static_cast<int>(stdio.size());
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    auto* exited = static_cast<Child*>(process->data);
    if (exited->owner != nullptr) exited->owner->exited(*exited, status, signal);
  };
  const int code = uv_spawn(loop_.uv(), &child->process, &options);
  ++child->unclosed;  // the process handle is to be closed either way
  if (log != STDERR_FILENO) ::close(log);
  if (code != 0) {
    child->close_all();
    return uv_error("cannot start a process", code);
  }
  child->pid = child->process.pid;
  children_[child->pid] = child;
  child->tell();
  if (child->callbacks.on_contact) child->listen();
  return child->pid;
}

/// The descriptor of what is kept for an actor; -1: nothing, and nothing of it outlives it.
int UvSpawner::kept_for(const Bootstrap& bootstrap) {
  if (bootstrap.kind != ProcessKind::ACTOR) return -1;
  const std::string& name = bootstrap.identity.name;
  if (bootstrap.identity.incarnation <= 1) kept_.erase(name);
  if (const auto before = kept_.find(name); before != kept_.end()) {
    return before->second.descriptor();
  }
  Result<MemoryFile> made = MemoryFile::make(name);
  if (!made) return -1;
  return kept_.emplace(name, std::move(*made)).first->second.descriptor();
}

Result<KeptBytes> UvSpawner::read_kept(const std::string& actor, std::uint64_t offset,
                                       std::size_t most) const {
  const auto found = kept_.find(actor);
  if (found == kept_.end()) return KeptBytes{};
  STERNA_ASSIGN(Bytes bytes, found->second.read(offset, most));
  return KeptBytes{found->second.size(), std::move(bytes)};
}

Result<void> UvSpawner::write_kept(const std::string& actor, std::uint64_t offset,
                                   std::uint64_t size, ByteView bytes) {
  if (offset == 0) {
    STERNA_ASSIGN(MemoryFile made, MemoryFile::make(actor));
    arriving_.insert_or_assign(actor, std::move(made));
  }
  const auto found = arriving_.find(actor);
  if (found == arriving_.end()) return Error{Errc::invalid_argument, "its beginning did not come"};
  Result<void> written = found->second.write(offset, size, bytes);
  if (written && offset + bytes.size() < size) return {};
  if (written) kept_.insert_or_assign(actor, std::move(found->second));
  arriving_.erase(found);
  return written;
}

void UvSpawner::forget(const std::string& actor) {
  kept_.erase(actor);
  arriving_.erase(actor);
}

void UvSpawner::kill(std::int64_t pid) {
  if (children_.contains(pid) || ended_groups_.contains(pid)) {
    ::kill(static_cast<pid_t>(-pid), SIGKILL);
    // A child that was just spawned may not have made its group yet.
    if (children_.contains(pid)) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }
}

void UvSpawner::freeze(std::int64_t pid) {
  if (children_.contains(pid)) ::kill(static_cast<pid_t>(-pid), SIGSTOP);
}

void UvSpawner::thaw(std::int64_t pid) {
  if (children_.contains(pid)) ::kill(static_cast<pid_t>(-pid), SIGCONT);
}

void UvSpawner::exited(Child& child, std::int64_t status, int signal) {
  ProcessExit exit;
  exit.signal = signal;
  exit.code = signal == 0 ? static_cast<int>(status) : -1;
  exit.likely_out_of_memory = oom_kills_.explain(signal == SIGKILL, loop_.now());
  const auto on_exit = std::move(child.callbacks.on_exit);
  const std::int64_t pid = child.pid;
  children_.erase(pid);
  child.close_all();
  // What it started is in its group; as a subreaper we inherit it.
  ::kill(static_cast<pid_t>(-pid), SIGKILL);
  ended_groups_.insert(pid);
  reap();
  if (on_exit) on_exit(exit);
}

void UvSpawner::watch_orphans() {
  if (child_signal_ != nullptr) return;
  child_signal_ = new uv_signal_t;
  uv_signal_init(loop_.uv(), child_signal_);
  child_signal_->data = this;
  uv_signal_start(
      child_signal_,
      [](uv_signal_t* signal, int) { static_cast<UvSpawner*>(signal->data)->reap(); }, SIGCHLD);
  uv_unref(reinterpret_cast<uv_handle_t*>(child_signal_));
}

void UvSpawner::reap() {
  std::erase_if(ended_groups_, [](std::int64_t group) {
    pid_t reaped = 0;
    do {
      reaped = waitpid(static_cast<pid_t>(-group), nullptr, WNOHANG);
    } while (reaped > 0);
    return reaped < 0;  // nobody of it is ours any more
  });
  reap_orphans();
}

/// Whom a child has started in a group of its own (a daemon), and left: a subreaper inherits them.
/// Elsewhere there are none, and what is not ours is somebody's who waits for it: system(), say.
void UvSpawner::reap_orphans() {
  int inherits = 0;
  if (::prctl(PR_GET_CHILD_SUBREAPER, &inherits) != 0 || inherits == 0) return;
  while (true) {
    siginfo_t first{};
    if (::waitid(P_ALL, 0, &first, WEXITED | WNOHANG | WNOWAIT) != 0 || first.si_pid == 0) return;
    // Of a child libuv is about to tell; then we are here again.
    if (children_.contains(first.si_pid)) return;
    if (::waitpid(first.si_pid, nullptr, WNOHANG) <= 0) return;
  }
}

std::uint64_t UvSpawner::resident_bytes(std::int64_t pid) const {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace sterna
