// placer = "local": every host is emulated on this machine, which is what a Placer does unasked.
#include "launcher/hosts/placer.h"

namespace sterna::launcher {

const Placer& local_placer() {
  static const Placer placer;
  return placer;
}

}  // namespace sterna::launcher
