// Files that commands write where their user says.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// The file into whose place a command may put what ends in `ending` (".csv"): `path`, or where the
/// link of that name leads. Errors: already_exists, as far as what is there is concerned: no
/// regular file (a device, a pipe, a folder, a link that leads nowhere), one that is called
/// otherwise, so that the command never wrote it, or that a run or a checkpoint left beside its
/// others. `who` is the option that names it. Another file of that ending is to be replaced.
Result<std::string> output_file(const std::string& path, std::string_view ending,
                                std::string_view who);

}  // namespace sterna::launcher
