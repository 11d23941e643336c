// WorkerContext: what the parts of a worker are given of it. Each part has a state of its own and
// knows no other; what they need of each other the worker passes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "actors/job/args.h"
#include "actors/schemes/scheme.h"
#include "actors/worker/worker_trace.h"
#include "runtime/actor/process.h"

namespace sterna::actors {

/// What a question came to, with the step and whom it was asked.
inline Error at_step(std::uint64_t step, const std::string& with, const Error& error) {
  return {error.code,
          fmt::format("step {}, {}: {}: {}", step, with, name(error.code), error.message)};
}

/// Outlives the parts; once there is a policy `args` no longer change.
struct WorkerContext {
  Process& process;
  const WorkerArgs& args;
  const WorkerPolicy& policy;
  WorkerTrace trace;
  /// Beside the worker's handlers; an error ends the worker with its message.
  std::function<void(Task<Result<void>>)> run;
  /// ActorBase::compute(), of what says nothing.
  std::function<Task<void>(std::function<void()> work)> on_compute_thread;

  const JobConfig& job() const { return args.job; }
  const PeerIdentity& identity() const { return process.options().link.identity; }
  Time now() const { return process.loop().now(); }

  /// As ActorBase::compute().
  template <class F>
  Task<std::invoke_result_t<F>> compute(F work) const {
    using R = std::invoke_result_t<F>;
    const auto result = std::make_shared<std::optional<R>>();
    // Shared, as a std::function is copied; by the compute thread alone, where its end may be.
    std::function<void()> job = [own = std::make_shared<F>(std::move(work)), result] {
      result->emplace((*own)());
    };
    Task<void> working = on_compute_thread(std::move(job));
    co_await working;
    co_return std::move(**result);
  }
};

}  // namespace sterna::actors
