#include "launcher/simulate/message_names.h"

#include <algorithm>
#include <array>

#include "actors/job/messages.h"
#include "actors/job/observer.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

namespace {

struct Named {
  std::uint64_t type_id;
  std::string_view name;
};

#define STERNA_NAMED(M) \
  Named { type_id_of<M>(), #M }

const auto& table() {
  using namespace actors;
  static const std::array kTable = {
      STERNA_NAMED(Push),       STERNA_NAMED(PushReply),    STERNA_NAMED(Pull),
      STERNA_NAMED(Parameters), STERNA_NAMED(Offer),        STERNA_NAMED(Agreed),
      STERNA_NAMED(Rejoin),     STERNA_NAMED(Rejoined),     STERNA_NAMED(NextBatch),
      STERNA_NAMED(Batch),      STERNA_NAMED(Evaluated),    STERNA_NAMED(Concluded),
      STERNA_NAMED(Release),    STERNA_NAMED(TakeOver),     STERNA_NAMED(Handover),
      STERNA_NAMED(WorkerDone), STERNA_NAMED(JobFinished),  STERNA_NAMED(Find),
      STERNA_NAMED(Found),      STERNA_NAMED(Connect),      STERNA_NAMED(Admit),
      STERNA_NAMED(Dial),       STERNA_NAMED(StartProcess), STERNA_NAMED(Spawned),
      STERNA_NAMED(Ready),      STERNA_NAMED(ProcessDown),  STERNA_NAMED(ProcessRestarts),
      STERNA_NAMED(Enlist),     STERNA_NAMED(Enlisted),     STERNA_NAMED(CopyChunk),
      STERNA_NAMED(ChunkCopy),  STERNA_NAMED(CopyBoard),    STERNA_NAMED(BoardCopy),
      STERNA_NAMED(ActorWhole), STERNA_NAMED(Note),         STERNA_NAMED(Resume),
      STERNA_NAMED(EndProcess), STERNA_NAMED(LinkReport),   STERNA_NAMED(ShowHeld),
      STERNA_NAMED(Held),       STERNA_NAMED(Forward),      STERNA_NAMED(ReadKept),
      STERNA_NAMED(KeptPiece),  STERNA_NAMED(WriteKept)};
  return kTable;
}

#undef STERNA_NAMED

}  // namespace

std::string_view name_of_message(std::uint64_t type_id) {
  const auto found = std::ranges::find(table(), type_id, &Named::type_id);
  return found == table().end() ? std::string_view() : found->name;
}

std::vector<std::string_view> message_names() {
  std::vector<std::string_view> names;
  for (const Named& one : table()) names.push_back(one.name);
  return names;
}

}  // namespace sterna::launcher
