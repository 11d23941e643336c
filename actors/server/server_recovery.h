// recover(): how a server in the place of a lost one comes to its state where it has no partner,
// and workers have all that it had (JobConfig::servers_come_again()).
//
// Each worker says which version it holds of each chunk of the shard. No rank is more than a step
// ahead of another, so these are one or two, and the larger is the newest that the lost server has
// given out: a later one would need packets of all ranks, which it told nobody about. The new
// server copies that one from a worker, parameters and slots. The packets towards the next version,
// and the scalers that are being agreed, ranks tell it again: they keep them until they hold what
// was made of them. A rank that has not got the newest version yet gets it as the others' state, as
// nobody knows the average that led there any more.
//
// What the lost server had kept for the evaluator is gone: that misses an evaluation, and says so.
#pragma once

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/server/lost_state.h"
#include "runtime/actor/task.h"
#include "runtime/cluster/find_actor.h"

namespace sterna::actors {

/// Asks in the name of `actor`. All that is passed in is there until the end. Errors:
/// invalid_argument, of a job in which nobody else has it; actor_down, who had it is lost, too;
/// what workers say is malformed.
Task<Result<void>> recover(const Actor<ParameterServerInterface>& actor, const ServerArgs& args,
                           const Finder& finder, LostState state);

}  // namespace sterna::actors
