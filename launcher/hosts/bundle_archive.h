// The archive of a program's bundle, as it is shipped to hosts that lack it. Made once per bundle
// and kept in the user's cache.
#pragma once

#include <string>

#include "runtime/base/result.h"
#include "runtime/remote/remote_session.h"

namespace sterna::launcher {

/// Of `program` (empty: the running one): its bundle's hash, and the archive, which is made if it
/// is not there yet. Fails if the program has no bundle.
Result<RemoteBundle> archived_bundle(const std::string& program);

}  // namespace sterna::launcher
