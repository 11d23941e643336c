#include "launcher/past/remembered_run.h"

#include <algorithm>
#include <utility>

namespace sterna::launcher {
namespace {

constexpr const char* kNotFound = "; `sterna status` will not find this run";

Error not_found(const Error& why) { return {why.code, why.message + kNotFound}; }

}  // namespace

RememberedRun::~RememberedRun() {
  if (states_) states_->remove(state_.id);
}

Result<std::string> RememberedRun::write(RunState state, const std::string& head) {
  for (StateHost& host : state.hosts) {
    if (host.name == head) host.ssh.clear();
  }
  state.head.clear();
  state.keeper = Keeper::this_process();
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return not_found(states.error());
  Result<RunState> written = states->begin(std::move(state));
  if (!written) return not_found(written.error());
  states_ = *states;
  state_ = std::move(written).value();
  return state_.id;
}

void RememberedRun::coordinator_is_at(const Contact& contact) {
  state_.coordinator = contact;
  write_again();
}

void RememberedRun::has_host(const StateHost& host) {
  if (std::ranges::find(state_.hosts, host.name, &StateHost::name) != state_.hosts.end()) return;
  state_.hosts.push_back(host);
  write_again();
}

void RememberedRun::ended(int exit, const std::string& last_words, const std::string& resume,
                          bool again) {
  if (!states_ || !state_.detached) return;
  const bool nobody_is_left = !state_.supervisor.machine.empty() && state_.supervisor.is_gone();
  if (again && !nobody_is_left) return states_.reset();
  state_.resume = resume;
  state_.operators.clear();
  state_.ended = last_words;
  state_.exit = exit;
  if (const Result<void> written = states_->write(state_); !written)
    console_.say(written.error().message);
  // Where its disk is full, what stands there still leads to its directory and its checkpoints.
  states_.reset();
}

void RememberedRun::write_again() {
  if (!states_) return;
  if (const Result<void> written = states_->write(state_); !written)
    console_.say(not_found(written.error()).message);
}

}  // namespace sterna::launcher
