// BUILD.txt: what a folder of TFRecord files was built from and how, so that an interrupted build
// goes on and none is mixed with another.
#pragma once

#include <filesystem>
#include <string_view>

#include "input/files/folder_lock.h"
#include "runtime/base/result.h"

namespace sterna::input {

inline constexpr std::string_view kBuildNote = "BUILD.txt";

/// Whether an entry of that name is what a call that was killed has left.
using IsLeft = bool (*)(std::string_view name);

/// `into` is made where it is missing, and is the caller's until it lets the lock go; where there
/// is nothing but such leftovers they are removed. Errors, by which it stays as it is:
/// already_exists where something else is in it, or another process writes there.
Result<FolderLock> begin_in_empty_folder(const std::filesystem::path& into, IsLeft is_left);

/// Makes `into`, with `note` in its BUILD.txt; or finds it begun with the same note. It is the
/// caller's until it lets the lock go. Errors: already_exists where another process writes there,
/// or it holds a build with another note (named is the first line that differs) or anything else.
Result<FolderLock> begin_build(const std::filesystem::path& into, std::string_view note);

}  // namespace sterna::input
