// downpour and agn: a rank makes a window of steps of its own, pushes its gradients' sum (downpour;
// Dean et al. 2012) or mean (agn; Hermans 2017, arXiv 1710.02368), with which the servers step at
// once, and goes on from their parameters, but with its own optimizer's state.
#include "actors/schemes/device_window.h"
#include "actors/schemes/server_rules.h"
#include "actors/schemes/worker_rules.h"

namespace sterna::actors {

Scheme downpour_scheme() {
  return with_windows<Pushed::sum>(
      {.name = "downpour", .worker = make_worker<WorkerRules>, .server = make_server<SingleRules>});
}

Scheme agn_scheme() {
  return with_windows<Pushed::mean>(
      {.name = "agn", .worker = make_worker<WorkerRules>, .server = make_server<SingleRules>});
}

}  // namespace sterna::actors
