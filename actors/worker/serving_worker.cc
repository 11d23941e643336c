#include "actors/worker/serving_worker.h"

#include <utility>

namespace sterna::actors {
namespace {

ServerArgs server_of(const WorkerArgs& worker) {
  ServerArgs args;
  args.job = worker.job;
  args.evaluator = worker.evaluator;
  args.keeper = worker.keeper;
  args.observer = worker.observer;
  return args;
}

}  // namespace

ServingWorker::ServingWorker(const WorkerArgs& args, Finder finder, std::uint32_t cores,
                             Worker::Devices devices)
    : ServingWorker(args, finder, cores, std::move(devices), std::make_shared<ServedShard>()) {}

ServingWorker::ServingWorker(const WorkerArgs& args, const Finder& finder, std::uint32_t cores,
                             Worker::Devices devices, std::shared_ptr<ServedShard> served)
    : ParameterServer(server_of(args), finder, served),
      worker_(args),
      finder_(finder),
      cores_(cores),
      devices_(std::move(devices)),
      served_(std::move(served)) {}

void ServingWorker::started() {
  ParameterServer::started();
  const std::string& own = identity().name;
  worker_.servers = {own};
  const Finder finder = [outer = finder_, own, here = AnyRef(self())](
                            Process& process, std::string name,
                            Duration patience) -> Task<Result<AnyRef>> {
    if (name == own) co_return here;
    Task<Result<AnyRef>> finding = outer(process, std::move(name), patience);
    co_return co_await finding;
  };
  const ActorRef<WorkerInterface> worker =
      spawn<Worker>(worker_, finder, cores_, devices_, served_);
  watch(worker.id);
  spawned_ = worker.id.local;
}

Result<void> ServingWorker::suffer_device_fault() {
  ActorBase* const worker = process().find(spawned_);
  if (worker == nullptr) return Error{Errc::unavailable, "it is ending"};
  return worker->suffer_device_fault();
}

}  // namespace sterna::actors
