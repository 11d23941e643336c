#include "launcher/owner/owner_client.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "launcher/hosts/host_plan.h"
#include "launcher/text/console.h"
#include "launcher/view/status_json.h"
#include "runtime/host/process_names.h"

namespace sterna::launcher {
namespace {

/// Nothing is computed between "go" and "gone".
constexpr Duration kDetachTakes = std::chrono::seconds(10);

RemotePlacerOptions placer_options(const OwnerClientOptions& options) {
  RemotePlacerOptions placer = placer_options_of(options.file, options.nodes, options.progress);
  // The head's own node is the owner's child.
  if (head_is_remote(options.file)) placer.hosts.erase(options.file.cluster.head);
  return placer;
}

}  // namespace

RunState as_ordered(RunState told, const ClusterFile& file, const OwnerOrder& order) {
  told.name = file.cluster.name;
  told.file = order.file_path;
  told.run = order.run;
  told.detached = order.detached;
  told.placer = file.cluster.placer;
  told.head = head_is_remote(file) ? file.cluster.head : "";
  told.hosts = state_hosts(file);
  told.slurm_job.clear();
  told.ended.clear();
  if (!told.head.empty()) told.keeper = told.supervisor = {};  // processes of that host
  return told;
}

OwnerClient::OwnerClient(RealMachine& machine, OwnerClientOptions options)
    : machine_(machine),
      options_(std::move(options)),
      placer_(machine.loop(), machine.spawner(), placer_options(options_)),
      reader_([this](const OwnerWord& word) { told(word); }),
      interrupt_(machine.loop(), SIGINT, [this] { interrupted(); }),
      terminate_(machine.loop(), SIGTERM, [this] { interrupted(kToldToEnd); }) {}

OwnerClient::~OwnerClient() = default;

Result<void> OwnerClient::start_owner() {
  const auto hear = [this](std::string_view bytes) {
    if (!reader_.take(bytes)) owner_ended({-1, 0, false, "what keeps the run speaks nonsense"});
  };
  const auto ended = [this](const ProcessExit& exit) { owner_ended(exit); };
  std::vector<std::string> arguments =
      owner_arguments(options_.file.cluster.name, options_.order.run);
  if (!head_is_remote(options_.file)) {
    std::error_code failed;
    arguments.front() = std::filesystem::read_symlink("/proc/self/exe", failed).string();
    if (failed) return system_error("/proc/self/exe", failed.value());
    PipedProcess::Events events;
    events.output = hear;
    events.errors = [this](std::string_view bytes) { owner_said(bytes); };
    events.exited = ended;
    STERNA_ASSIGN(local_owner_, PipedProcess::start(machine_.loop(), arguments, std::move(events)));
    return {};
  }
  const HostSection& head = *head_of(options_.file);
  RemoteSession::Options session;
  session.host = head.name;
  session.command = ssh_command(head.ssh, options_.file.deadlines.host);
  session.work = head.work;
  session.bundle = options_.own;
  session.patience = options_.file.deadlines.host;
  if (options_.nodes.hash != options_.own.hash) STERNA_TRY(ship_to_head(session));
  RemoteSession::Events events;
  arguments.erase(arguments.begin());
  events.ready = [this, arguments](const RemoteFacts&) { remote_owner_->run(arguments); };
  events.bytes = hear;
  events.ended = ended;
  STERNA_ASSIGN(remote_owner_,
                RemoteSession::open(machine_.loop(), std::move(session), std::move(events)));
  return {};
}

/// The program of the nodes, for the one that is the owner's child.
Result<void> OwnerClient::ship_to_head(RemoteSession::Options session) {
  session.bundle = options_.nodes;
  bool there = false;
  std::optional<ProcessExit> ended;
  RemoteSession::Events events;
  events.ready = [&](const RemoteFacts&) { there = true; };
  events.ended = [&](const ProcessExit& exit) { ended = exit; };
  STERNA_ASSIGN(const auto shipping,
                RemoteSession::open(machine_.loop(), std::move(session), std::move(events)));
  machine_.loop().run_until([&] { return there || ended || over_; }, kNever);
  if (!there) return Error{Errc::unavailable, ended ? ended->words : "interrupted"};
  return {};
}

void OwnerClient::send(const OwnerWord& word) {
  if (local_owner_) local_owner_->write(as_written(word));
  if (remote_owner_) remote_owner_->write(as_written(word));
}

Result<RunState> OwnerClient::start() {
  STERNA_TRY(placer_.prepare([this] { return over_.has_value(); }));
  STERNA_TRY(start_owner());
  const auto ready = [this] { return local_owner_ || remote_owner_->running() || over_; };
  machine_.loop().run_until(ready, kNever);
  if (!over_) {
    send({"order", resolved(options_.file), copy_bytes(order_json(options_.order))});
    machine_.loop().run_until([this] { return running_ || over_; }, kNever);
  }
  if (over_) return Error{Errc::unavailable, over_->last_words};
  return *state_;
}

Result<void> OwnerClient::detach() {
  send({"detach"});
  placer_.detach();
  const bool done =
      machine_.loop().run_until([this] { return (detached_ && placer_.detached()) || over_; },
                                machine_.loop().now() + kDetachTakes);
  if (over_) return Error{Errc::unavailable, over_->last_words};
  if (!done) return Error{Errc::deadline, "the run does not let go of this launcher"};
  if (local_owner_) local_owner_->release();
  return {};
}

OwnerClient::Over OwnerClient::wait() {
  machine_.loop().run_until([this] { return over_.has_value(); }, kNever);
  return *over_;
}

/// What it says for people, before it is on its own.
void OwnerClient::owner_said(std::string_view bytes) {
  constexpr std::size_t kMost = 4096;
  owner_errors_ = (owner_errors_ + std::string(bytes)).substr(0, kMost);
  while (!bytes.empty() && bytes.back() == '\n') bytes.remove_suffix(1);
  if (running_ || state_) options_.progress(bytes);
}

void OwnerClient::interrupted(const std::string& how) {
  if (std::exchange(interrupted_, true)) {
    // It does not hear: without us it ends, and its nodes with it.
    over_ =
        Over{kExitInterrupted, "interrupted; `sterna down` makes sure that nothing is left", ""};
  } else if (local_owner_ || (remote_owner_ && remote_owner_->running())) {
    send({"end", how});
  } else {
    over_ = Over{kExitInterrupted, "interrupted", ""};  // there is nothing to end yet
  }
}

// ---- what the owner says ----

void OwnerClient::told(const OwnerWord& word) {
  if (word.kind == "place") {
    place(word);
  } else if (word.kind == "withdraw") {
    if (const auto known = placed_.find(word.number); known != placed_.end()) {
      placer_.kill(known->second);
    }
  } else if (word.kind == "progress") {
    options_.progress(word.text);
  } else if (word.kind == "status") {
    if (const Result<RunStatus> status = parse_status(word.text)) options_.status(*status);
  } else if (word.kind == "started") {
    if (Result<RunState> state = parse_state(word.text)) {
      state_ = as_ordered(std::move(state).value(), options_.file, options_.order);
    }
  } else if (word.kind == "running") {
    running_ = state_.has_value();
  } else if (word.kind == "detached") {
    detached_ = true;
  } else if (word.kind == "over") {
    over_ = Over{static_cast<int>(word.number), word.text, std::string(text_of(word.data.view()))};
  }
}

void OwnerClient::place(const OwnerWord& word) {
  const auto ended = [this, id = word.number](const std::string& why) {
    send({"ended", why, {}, id});
  };
  const Result<Bootstrap> bootstrap = unpack<Bootstrap>(word.data.view());
  if (!bootstrap) return ended(bootstrap.error().message);
  Spawner::Callbacks callbacks;
  callbacks.on_exit = [ended](const ProcessExit& exit) { ended(exit.text()); };
  const Result<std::int64_t> placed = placer_.spawn(*bootstrap, std::move(callbacks));
  if (!placed) return ended(placed.error().message);
  placed_[word.number] = *placed;
}

void OwnerClient::owner_ended(const ProcessExit& exit) {
  if (detached_ || over_) return;
  while (!owner_errors_.empty() && owner_errors_.back() == '\n') owner_errors_.pop_back();
  over_ = Over{kExitFailed,
               owner_errors_.empty()
                   ? fmt::format("what keeps the run on its head has ended: {}", exit.text())
                   : owner_errors_,
               ""};
}

}  // namespace sterna::launcher
