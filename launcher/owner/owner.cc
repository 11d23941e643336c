#include "launcher/owner/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "launcher/hosts/bundle_archive.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/job/resume.h"
#include "launcher/owner/relay_placer.h"
#include "launcher/owner/supervisor.h"
#include "launcher/owner/word_channel.h"
#include "launcher/run/whole_run.h"
#include "launcher/text/console.h"
#include "launcher/text/json_struct.h"
#include "launcher/view/result_json.h"
#include "launcher/view/status_json.h"
#include "runtime/base/file.h"
#include "runtime/host/process_names.h"

namespace sterna::launcher {
namespace {

/// Shows the launcher what the run is doing, a few times a second.
class RelayView final : public RunView {
 public:
  RelayView(const Clock& clock, std::function<void(const OwnerWord&)> say)
      : clock_(clock), say_(std::move(say)) {}
  void update(const RunStatus& status) override {
    const Time now = clock_.now();
    if (told_ && now - *told_ < kInterval && status.phase == phase_) return;
    told_ = now;
    finish(status);
  }
  void finish(const RunStatus& status) override {
    phase_ = status.phase;
    say_({"status", status_json(status)});
  }

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(200);
  const Clock& clock_;
  std::function<void(const OwnerWord&)> say_;
  std::optional<Time> told_;
  std::string phase_;
};

/// From here on what it says for people goes into the run's folder.
void log_to(const std::string& path) {
  constexpr mode_t kMode = 0644;
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) return;
  ::dup2(file, STDERR_FILENO);
  ::close(file);
}

class Owner {
 public:
  Owner(ClusterFile file, const OwnerOrder& order, std::int64_t supervisor)
      : file_(std::move(file)), order_(order), supervisor_(supervisor) {
    if (order.begun) {
      file_ = begun_again(std::move(file_), order.run_dir);
      log_to(order.run_dir + "/logs/launcher.log");
    } else {
      channel_.emplace(machine_.loop(),
                       WordChannel::Events{[this](const OwnerWord& word) { told(word); },
                                           [this] { left_alone(); }});
    }
  }

  int run(const Registry& registry) {
    const Result<WholeRunEnd> end = keep_run(registry);
    if (!end) {
      close({"over", end.error().message, {}, kExitBadInput});
      return kExitBadInput;
    }
    close({"over", end->last_words, copy_bytes(to_json(end->result)), end->result.exit});
    return end->result.exit;
  }

 private:
  Result<WholeRunEnd> keep_run(const Registry& registry) {
    WholeRunOptions whole;
    whole.file = file_;
    whole.file_path = order_.file_path;
    whole.data = order_.data;
    whole.run_dir = order_.run_dir;
    whole.run_parent = expand_home(order_.run_parent);
    whole.run = order_.run;
    whole.program = {expand_home(order_.program), order_.schema_hash};
    whole.detached = order_.detached;
    whole.began = clock_.now();
    whole.supervisor = supervisor_;
    whole.comes_again = order_.again > 0;
    whole.begun = order_.begun;
    if (!order_.starts_it.empty()) {
      whole.resume = [this](const std::string& directory) {
        return with_resume(order_.starts_it, directory);
      };
    }
    // Without the launcher this process reaches what it does, or there is nothing to reach.
    const bool places_itself = order_.begun && !head_is_remote(file_);
    if (places_itself && has_remote_hosts(file_) && placer_of(file_).ships()) {
      STERNA_ASSIGN(whole.bundle, archived_bundle(file_.program.path));
    } else if (!places_itself && placer_of(file_).ships()) {
      whole.make_placer = [this](const auto&, const auto&) { return make_placer(); };
    }
    whole.make_view = [this] {
      return std::make_unique<RelayView>(clock_, [this](const OwnerWord& word) {
        if (channel_) channel_->send_if_heard(word);
      });
    };
    whole.started = [this](const RunState& state) {
      log_ = state.run_directory + "/logs/launcher.log";
      send({"started", state_text(state)});
    };
    whole.running = [this] { send({"running"}); };
    return whole_run(machine_, registry, whole);
  }

  void send(const OwnerWord& word) {
    if (channel_) channel_->send(word);
  }
  /// The last word; a launcher that has left finds it in the log.
  void close(const OwnerWord& last) { channel_ ? channel_->close(last) : Console().say(last.text); }

  Result<std::unique_ptr<Spawner>> make_placer() {
    std::set<std::string> elsewhere;
    const HostSection* head = head_of(file_);
    for (const HostSection& host : file_.hosts) {
      if (is_remote(file_, host) && !(head_is_remote(file_) && &host == head)) {
        elsewhere.insert(host.name);
      }
    }
    auto placer = std::make_unique<RelayPlacer>(
        machine_.spawner(), std::move(elsewhere), [this](const OwnerWord& word) { send(word); },
        [this] { return placer_without_launcher(); });
    placer_ = placer.get();
    if (alone_) placer_->release_all();
    return std::unique_ptr<Spawner>(std::move(placer));
  }

  Result<std::unique_ptr<Spawner>> placer_without_launcher() {
    if (head_is_remote(file_)) {
      return Error{Errc::unavailable,
                   "the run is kept on " + file_.cluster.head + ", which starts nothing elsewhere"};
    }
    NodeStart start;
    STERNA_ASSIGN(start.bundle, archived_bundle(file_.program.path));
    start.unprepared = true;
    return placer_of(file_).nodes(machine_, file_, start);
  }

  void leave() {
    alone_ = true;
    if (placer_ != nullptr) placer_->release_all();
  }

  void told(const OwnerWord& word) {
    if (word.kind == "ended") {
      if (placer_ != nullptr) placer_->ended(word.number, word.text);
    } else if (word.kind == "end") {
      ::raise(word.text == kToldToEnd ? SIGTERM : SIGINT);
    } else if (word.kind == "detach") {
      close({"detached"});
      leave();
      log_to(log_);
    }
  }

  /// The launcher is gone before it let the run go.
  void left_alone() {
    leave();
    ::raise(SIGINT);
  }

  ClusterFile file_;
  const OwnerOrder& order_;
  std::int64_t supervisor_;
  SteadyClock clock_;
  std::string log_;
  RealMachine machine_;
  std::optional<WordChannel> channel_;  ///< to a launcher, where there is one
  RelayPlacer* placer_ = nullptr;       ///< the job's
  bool alone_ = false;                  ///< the launcher has left
};

int own(const ChildArguments& self, const Registry& registry) {
  const bool supervised = self.parent != 0;
  Result<OwnerWord> first = read_first_word(supervised ? kOrderDescriptor : STDIN_FILENO);
  if (supervised) ::close(kOrderDescriptor);
  if (!first) {
    Console().say(first.error().message);
    return kExitBadInput;
  }
  Result<OwnerOrder> order = parse_order(text_of(first->data.view()));
  Result<ClusterFile> file = order ? parse_cluster_file(first->text, order->file_path)
                                   : Result<ClusterFile>(order.error());
  if (!file) {
    Console().say(file.error().message);
    return kExitBadInput;
  }
  if (!supervised && order->again > 0) return supervise(self, std::move(first->text), *order);
  return Owner(std::move(file).value(), *order, self.parent).run(registry);
}

}  // namespace

STERNA_JSON(OwnerOrder, file_path, data, run_dir, run_parent, run, program, schema_hash, detached,
            again, begun, starts_it)

std::string order_json(const OwnerOrder& order) { return json_line(order); }

Result<OwnerOrder> parse_order(std::string_view text) {
  return parse_json<OwnerOrder>(text, "the order");
}

std::optional<int> own_if_asked(int argc, char** argv, const Registry& registry) {
  const auto self = parse_owner_arguments(std::vector<std::string>(argv, argv + argc));
  if (!self) return std::nullopt;
  return own(*self, registry);
}

}  // namespace sterna::launcher
