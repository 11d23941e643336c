#include "actors/job/checkpoint.h"

#include "runtime/message/fields.h"

namespace sterna::actors {

STERNA_MESSAGE(KeepVersion, FIELD(version, Version))
STERNA_MESSAGE(KeepAnswer, FIELD(kept, Kept), FIELD(version, Version))
STERNA_MESSAGE(PartWritten, FIELD(version, Version), FIELD(file, File), FIELD(bytes, Bytes),
               FIELD(hash, Hash), FIELD(skipped, Skipped), FIELD(error, Error))
STERNA_MESSAGE(ReadState, FIELD(array, Array), FIELD(first, First),
               FIELD(count, Count, at_most(ReadState::kMost)))
STERNA_MESSAGE(StateValues, FIELD(values, Values))
STERNA_MESSAGE(KeepCopy, FIELD(manifest, Manifest), FIELD(keep, Keep))
STERNA_MESSAGE(CopyKept, FIELD(folder, Folder))
STERNA_MESSAGE(ReadPart, FIELD(version, Version), FIELD(file, File), FIELD(offset, Offset))
STERNA_MESSAGE(PartPiece, FIELD(bytes, Bytes))

}  // namespace sterna::actors
