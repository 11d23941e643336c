// Why a folder that somebody named is no data set: what lies in it, and what is missing there for
// the kind that it looks most like.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "input/formats/format.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What `dir` lacks to be what it looks most like: TFRecord files, one of the sets whose files have
/// fixed names, folders of pictures. Its line begins with `who`. None: it looks like nothing.
std::optional<Error> nearly_data(const std::filesystem::path& dir, std::string_view who,
                                 const DataOptions& options);

/// "it is empty", "it holds 3 files (.npy, .txt) and 2 folders (a/, b/)". Hidden names do not
/// count.
std::string what_it_holds(const std::filesystem::path& dir);

}  // namespace sterna::input
