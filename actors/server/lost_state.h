// LostState: what a server in the place of a lost one gets again, from its partner
// (server_refilling.h) or from the workers (server_recovery.h).
#pragma once

#include "actors/job/messages.h"
#include "actors/server/scaler_board.h"
#include "actors/server/shard.h"

namespace sterna::actors {

struct LostState {
  Shard& shard;  ///< behind Shard::start()
  ScalerBoard& scalers;
  Concluded& concluded;  ///< the newest that is known, also by what the evaluator says meanwhile

  void hears_of(const Concluded& other) const {
    if (other.version > concluded.version) concluded = other;
  }
};

}  // namespace sterna::actors
