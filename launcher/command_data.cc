// sterna data make|fetch: data sets on this machine.
#include "launcher/commands.h"

namespace sterna::launcher {

int data_make_command(const DataMakeOptions& options) {
  return report({Errc::unavailable, options.out + ": not linked yet"});
}

int data_fetch_command(const DataFetchOptions& options) {
  return report({Errc::unavailable, options.dir + ": not linked yet"});
}

}  // namespace sterna::launcher
