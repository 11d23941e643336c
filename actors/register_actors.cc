#include "actors/register_actors.h"

#include "actors/evaluator/evaluator.h"
#include "actors/reader/input_reader.h"
#include "actors/server/parameter_server.h"
#include "actors/worker/serving_worker.h"
#include "actors/worker/worker.h"

namespace sterna::actors {

void register_actors(Registry& registry) {
  registry.add<ParameterServer, ServerArgs>("parameter_server");
  registry.add<Worker, WorkerArgs>(kWorkerType);
  registry.add<ServingWorker, WorkerArgs>(kServingWorkerType);
  registry.add<InputReader, ReaderArgs>("input_reader");
  registry.add<Evaluator, EvaluatorArgs>("evaluator");
}

}  // namespace sterna::actors
