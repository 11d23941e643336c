#include "launcher/past/run_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <sstream>

#include "actors/checkpoint/saved.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/text/console.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/environment.h"
#include "launcher/text/json_struct.h"
#include "launcher/text/machine_name.h"
#include "launcher/text/shell_word.h"
#include "runtime/base/file.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/zmq/curve_keys.h"

namespace sterna {

using launcher::Json;

STERNA_JSON(NetworkOptions, tcp, curve, directory)
STERNA_JSON(Credentials, public_key, secret_key, token)

static void to_json(Json& json, const Contact& contact) {
  json = {{"process", contact.process},
          {"name", contact.identity.name},
          {"incarnation", contact.identity.incarnation},
          {"control_endpoint", contact.control_endpoint},
          {"data_endpoint", contact.data_endpoint},
          {"public_key", contact.public_key},
          {"token_hash", contact.token_hash}};
}

static void from_json(const Json& json, Contact& contact) {
  contact = {json.at("process"),          {json.at("name"), json.at("incarnation")},
             json.at("control_endpoint"), json.at("data_endpoint"),
             json.at("public_key"),       json.at("token_hash")};
}

}  // namespace sterna

namespace sterna::launcher {

static void to_json(Json& json, const OperatorKeys& keys) {
  json = keys.credentials;
  json.update({{"process", keys.process},
               {"name", keys.identity.name},
               {"incarnation", keys.identity.incarnation}});
}

static void from_json(const Json& json, OperatorKeys& keys) {
  keys = {json.at("process"), {json.at("name"), json.at("incarnation")}, json};
}

STERNA_JSON(Keeper, machine, boot, pid, started)
STERNA_JSON(StateHost, name, ssh, work)
STERNA_JSON(RunState, id, name, file, run_directory, head, placer, slurm_job, keeper, supervisor,
            resume, checkpoints, detached, began, network, coordinator, operators, hosts, ended,
            exit)

namespace {

namespace fs = std::filesystem;
constexpr int kStateFormat = 1;

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }
std::uint64_t number(const Json& json) { return std::stoull(json.get<std::string>(), nullptr, 16); }

/// As RunState::run_directory has it; empty: the word is no path.
std::string directory_named(const std::string& word) {
  if (word.find('/') == std::string::npos) return "";
  return absolute_directory(word);
}

/// Not what its directory is called alone: so is another's.
std::string id_with_number(const RunState& state) {
  const std::string number = state.run == 0 ? state.slurm_job : hex(state.run);
  return fmt::format("{}-{}", directory_name(state.run_directory), number);
}

/// Whether both are of one run, which a head that shares our home remembers there, too, or of one
/// directory on one machine, as far as that is known here.
bool are_of_one(const RunState& a, const RunState& b) {
  if (a.run != 0 && a.run == b.run) return true;
  const StateHost* head_of_a = remote_head(a);
  const StateHost* head_of_b = remote_head(b);
  return a.run_directory == b.run_directory && a.head == b.head &&
         (head_of_a == nullptr ? "" : head_of_a->ssh) ==
             (head_of_b == nullptr ? "" : head_of_b->ssh);
}

std::string id_among(const std::vector<RunState>& known, const RunState& state) {
  for (const RunState& one : known) {
    if (are_of_one(one, state)) return one.id;
  }
  const std::string name = directory_name(state.run_directory);
  const bool taken = std::ranges::find(known, name, &RunState::id) != known.end();
  return taken ? id_with_number(state) : name;
}

/// Of two who look for an id at once the second one looks once the first has written. Where the
/// file system has no locks, nobody waits.
class TurnOfFolder {
 public:
  explicit TurnOfFolder(const std::string& folder)
      : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  TurnOfFolder(const TurnOfFolder&) = delete;
  TurnOfFolder& operator=(const TurnOfFolder&) = delete;
  ~TurnOfFolder() {
    if (folder_ >= 0) ::close(folder_);
  }

 private:
  int folder_;
};

/// Why no run is known of the directory that `word` names.
Error none_in(const std::string& directory, const std::string& word) {
  if (!may_read_folder(directory)) return {Errc::permission, word + ": Permission denied"};
  std::error_code ignored;
  const bool there = fs::is_directory(directory, ignored);
  return {Errc::not_found, (there ? "no run goes on in " : "there is no folder ") + word};
}

/// Of runs that are over, the newest that are named to whoever asks for another.
constexpr std::size_t kEndedNamed = 3;

/// Those that go on, the newest that are over, and how many more. `states`: the oldest first.
std::string listed(const std::vector<RunState>& states,
                   const std::function<bool(const RunState&)>& is_over) {
  const auto over = static_cast<std::size_t>(std::ranges::count_if(states, is_over));
  std::size_t left_out = over - std::min(over, kEndedNamed);
  const std::size_t more = left_out;
  std::string text;
  for (const RunState& state : states) {
    if (left_out > 0 && is_over(state)) {
      --left_out;
      continue;
    }
    text += (text.empty() ? "" : ", ") + state.id;
  }
  return more == 0 ? text : fmt::format("{} and {} more (sterna list)", text, more);
}

std::string boot_of_machine() {
  const Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id");
  return id ? *id : "";
}

/// Of a process, in ticks since the machine was started (proc(5): the 22nd field, the 20th after
/// the name, which may have spaces); empty if it is not there, or has ended and nobody has taken
/// note of that.
std::string start_of(std::int64_t pid) {
  const Result<std::string> stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return "";
  std::istringstream fields(stat->substr(std::min(stat->rfind(')') + 1, stat->size())));
  std::string state;
  fields >> state;
  if (state == "Z") return "";
  std::string field;
  for (int i = 1; i < 20; ++i) fields >> field;
  return field;
}

}  // namespace

Keeper Keeper::this_process() { return of(::getpid()); }

Keeper Keeper::of(std::int64_t pid) {
  return {machine_name(), boot_of_machine(), pid, start_of(pid)};
}

bool Keeper::is_gone() const {
  if (machine.empty() || machine != machine_name()) return false;
  return boot != boot_of_machine() || started != start_of(pid);
}

bool Keeper::is_here() const { return !machine.empty() && !is_elsewhere() && !is_gone(); }

bool Keeper::is_elsewhere() const { return !machine.empty() && machine != machine_name(); }

std::string state_text(const RunState& state) {
  Json json = {
      {"format", kStateFormat}, {"run", hex(state.run)}, {"schema_hash", hex(state.schema_hash)}};
  json.update(state);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string state_json_line(const RunState& state) {
  Json json;
  json["format"] = kStateFormat;
  json["id"] = state.id;
  json["name"] = state.name;
  json["file"] = state.file;
  json["run_directory"] = state.run_directory;
  json["head"] = state.head;
  json["began"] = state.began;
  json["detached"] = state.detached;
  json["hosts"] = Json::array();
  for (const StateHost& host : state.hosts) json["hosts"].push_back(host.name);
  json["ended"] = state.ended.empty() ? Json() : Json(state.ended);
  if (!state.ended.empty()) json["exit"] = state.exit;
  if (const std::string resume = resume_of(state); !resume.empty()) json["resume"] = resume;
  return json_line(json);
}

Result<RunState> parse_state(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("format", Json()) != kStateFormat) {
    return Error{Errc::malformed, "no state of a run"};
  }
  try {
    Json whole = json;
    const Json blank = RunState{};
    for (const char* newer :
         {"supervisor", "resume", "checkpoints"}) {  // than some run's that is on
      if (!whole.contains(newer)) whole[newer] = blank[newer];
    }
    RunState state = whole;
    state.run = number(json.at("run"));
    state.schema_hash = number(json.at("schema_hash"));
    if (!is_run_id(state.id)) return Error{Errc::malformed, "a run is not called so"};
    return state;
  } catch (const std::exception& error) {
    return Error{Errc::malformed, error.what()};
  }
}

Result<RunStates> RunStates::of_user() {
  const auto state_home = environment("XDG_STATE_HOME");
  if (state_home && state_home->starts_with('/')) return RunStates(*state_home + "/sterna/runs");
  const auto home = environment("HOME");
  if (!home || home->empty()) {
    return Error{Errc::not_found, "neither XDG_STATE_HOME nor HOME is set: runs are kept there"};
  }
  return RunStates(*home + "/.local/state/sterna/runs");
}

Result<void> RunStates::make_folder() const {
  STERNA_TRY(make_directory(folder_));
  if (::chmod(folder_.c_str(), S_IRWXU) != 0) return system_error(folder_, errno);
  return {};
}

Result<void> RunStates::write(const RunState& state) const {
  if (!is_run_id(state.id)) {
    return Error{Errc::invalid_argument,
                 fmt::format("no run can be remembered as \"{}\"", state.id)};
  }
  STERNA_TRY(make_folder());
  if (!state.ended.empty()) forget_oldest();
  return write_atomically(folder_ + "/" + state.id, state_text(state), S_IRUSR | S_IWUSR);
}

Result<RunState> RunStates::begin(RunState state) const {
  STERNA_TRY(make_folder());
  const TurnOfFolder turn(folder_);
  state.id = id_among(all(), state);
  STERNA_TRY(write(state));
  return state;
}

void RunStates::forget_oldest() const {
  std::vector<RunState> over = all();
  std::erase_if(over, [](const RunState& state) { return state.ended.empty(); });
  for (std::size_t i = 0; i + kEndedKept <= over.size(); ++i) remove(over[i].id);
}

void RunStates::remove(const std::string& id) const {
  if (!is_run_id(id)) return;
  std::error_code ignored;
  fs::remove(folder_ + "/" + id, ignored);
  for (std::size_t i = 0; i < kOperators; ++i) {
    fs::remove(lock_path(id, fmt::format("operator{}", i)), ignored);
  }
}

std::string RunStates::lock_path(const std::string& id, const std::string& identity) const {
  return fmt::format("{}/{}.{}.lock", folder_, id, identity);
}

std::string RunStates::start_lock_path(const std::string& file) const {
  return fmt::format("{}/{:016x}.start.lock", folder_, std::hash<std::string>()(file));
}

std::vector<RunState> RunStates::all() const {
  std::vector<RunState> states;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".lock") continue;
    const Result<std::string> text = read_file(entry->path().string());
    if (!text) continue;
    Result<RunState> state = parse_state(*text);
    if (state && state->id == entry->path().filename()) {
      states.push_back(std::move(state).value());
    }
  }
  std::sort(states.begin(), states.end(), [](const RunState& a, const RunState& b) {
    return std::pair(a.began, a.id) < std::pair(b.began, b.id);
  });
  return states;
}

bool is_run_id(std::string_view word) {
  return !word.empty() && word != "." && word != ".." && !word.ends_with(".lock") &&
         word.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

bool is_abandoned(const RunState& state) {
  const bool supervised = !state.supervisor.machine.empty() && !state.supervisor.is_gone();
  return state.ended.empty() && state.slurm_job.empty() && state.keeper.is_gone() && !supervised;
}

bool comes_again(const RunState& state) {
  return state.ended.empty() && state.keeper.is_gone() && !state.supervisor.machine.empty() &&
         !state.supervisor.is_gone();
}

std::string resume_of(const RunState& state) {
  if (state.resume.empty() || (state.ended.empty() && !is_abandoned(state))) return "";
  if (!state.ended.empty() && state.exit == kExitDone) return "";
  const auto found = actors::find_checkpoints(state.checkpoints);
  const bool whole = std::ranges::any_of(found, [](const actors::FoundCheckpoint& one) {
    return one.manifest && actors::check_parts({one.folder, *one.manifest}, false);
  });
  return whole ? state.resume : "";
}

Result<RunState> RunStates::find(const std::string& word) const {
  const std::vector<RunState> states = all();
  const std::string directory = directory_named(word);
  if (states.empty() && directory.empty()) {
    return Error{Errc::not_found,
                 (word.empty() ? std::string() : fmt::format("no run is called \"{}\": ", word)) +
                     "no run is known here; `sterna up FILE` starts one"};
  }
  const auto is_over = [this](const RunState& state) {
    return !state.ended.empty() || abandoned_(state);
  };
  std::vector<RunState> meant;
  for (const RunState& state : states) {
    if (state.id == word || id_with_number(state) == word) return state;
    const bool here = state.head.empty() && !directory.empty();
    if (here && state.run_directory == directory) return state;
    if (word.empty() || state.name == word || state.id.starts_with(word)) meant.push_back(state);
  }
  // Who is called so is meant before who only begins so.
  const auto is_called = [&](const RunState& state) { return state.name == word; };
  if (std::ranges::any_of(meant, is_called)) std::erase_if(meant, std::not_fn(is_called));
  if (word.empty() || meant.size() > 1) {
    // Those that are over are asked for by name, and of several that are called so by their ids.
    if (!std::all_of(meant.begin(), meant.end(), is_over)) {
      std::erase_if(meant, is_over);
    } else if (word.empty() && meant.size() > 1) {
      return Error{Errc::not_found,
                   fmt::format("no run goes on; these are over: {}", listed(meant, is_over))};
    }
  }
  if (meant.size() == 1) return meant.front();
  if (meant.empty() && !directory.empty()) return none_in(directory, word);
  if (meant.empty()) {
    return Error{Errc::not_found,
                 fmt::format("no run is called \"{}\"; there {} {}", word,
                             states.size() == 1 ? "is only" : "are", listed(states, is_over))};
  }
  return Error{Errc::invalid_argument, fmt::format("say which run: {}", listed(meant, is_over))};
}

std::optional<StateHost> state_host(const ClusterFile& file, const HostSection& host) {
  const bool remote = is_remote(file, host);
  if (remote && host.ssh.empty() && placer_of(file).queue() == nullptr) return std::nullopt;
  return StateHost{host.name, remote ? host.ssh : "", host.work};
}

std::vector<StateHost> state_hosts(const ClusterFile& file) {
  std::vector<StateHost> hosts;
  for (const HostSection& host : file.hosts) {
    if (const auto one = state_host(file, host); one && !host.spare) hosts.push_back(*one);
  }
  return hosts;
}

std::vector<OperatorKeys> issue_operators() {
  std::vector<OperatorKeys> operators;
  for (std::size_t i = 0; i < kOperators; ++i) {
    OperatorKeys& keys = operators.emplace_back();
    keys.process = kFirstOperator.value + i;
    keys.identity = {fmt::format("operator{}", i), 1};
    keys.credentials = make_credentials();
  }
  return operators;
}

std::vector<Contact> contacts_of(const std::vector<OperatorKeys>& operators) {
  std::vector<Contact> contacts;
  for (const OperatorKeys& keys : operators) {
    Contact& contact = contacts.emplace_back();
    contact.process = keys.process;
    contact.identity = keys.identity;
    contact.public_key = keys.credentials.public_key;
    contact.token_hash = token_hash(keys.credentials.token);
  }
  return contacts;
}

const StateHost* remote_head(const RunState& state) {
  const auto host = std::ranges::find(state.hosts, state.head, &StateHost::name);
  return host == state.hosts.end() || host->ssh.empty() ? nullptr : &*host;
}

namespace {

/// Where the directory of a run is that another host keeps, and how it is reached.
Error kept_elsewhere(const RunState& state) {
  const StateHost* head = remote_head(state);
  const std::string ssh = head == nullptr ? state.head : head->ssh;
  return {Errc::not_found,
          fmt::format("{} is kept by {}, and its directory is {} there: ask on that host (ssh {}), "
                      "or bring it here: scp -r {}:{} .",
                      state.id, state.head, state.run_directory, ssh, ssh,
                      shell_word(state.run_directory))};
}

}  // namespace

Result<std::string> run_directory_of(const std::string& run) {
  std::error_code ignored;
  if (fs::is_directory(run, ignored)) return run;
  const Result<RunStates> states = RunStates::of_user();
  const Result<RunState> state = states ? states->find(run) : Result<RunState>(states.error());
  if (!state) return run;
  if (state->head.empty() || fs::is_directory(state->run_directory, ignored)) {
    return state->run_directory;
  }
  return kept_elsewhere(*state);
}

}  // namespace sterna::launcher
