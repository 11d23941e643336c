// What scheme.cc has a line for. Internal.
#pragma once

#include "actors/schemes/scheme.h"

namespace sterna::actors {

Scheme sync_scheme();

}  // namespace sterna::actors
