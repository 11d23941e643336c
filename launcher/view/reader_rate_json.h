// A reader's rate as JSON, in a status and in a result alike. For .cc files, as json_struct.h.
#pragma once

#include "launcher/text/json_struct.h"
#include "launcher/view/run_status.h"

namespace sterna::launcher {

STERNA_JSON(ReaderRate, reader, pictures_per_second, threads)

}  // namespace sterna::launcher
