// What `sterna run --page` says of a run that another host keeps.
#pragma once

#include "launcher/past/run_state.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

/// The line that shows the page of a run there here, over ssh.
void say_where_its_page_is(const RunState& state, const Console& console);

}  // namespace sterna::launcher
