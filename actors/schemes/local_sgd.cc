// sagn and local_sgd: all ranks make a window of steps of their own. The servers step with the
// average of their mean gradients (sagn), or add the mean of the differences that their steps have
// made (local_sgd; Stich 2019, arXiv 1805.09767); all go on from the same parameters.
#include "actors/schemes/device_window.h"
#include "actors/schemes/server_rules.h"
#include "actors/schemes/worker_rules.h"

namespace sterna::actors {

Scheme sagn_scheme() {
  return with_windows<Pushed::mean>(
      {.name = "sagn", .worker = make_worker<WorkerRules>, .server = make_server<TogetherRules>});
}

Scheme local_sgd_scheme() {
  return with_windows<Pushed::difference>({.name = "local_sgd",
                                           .worker = make_worker<WorkerRules>,
                                           .server = make_server<TogetherRules>});
}

}  // namespace sterna::actors
