#include "input/build/build_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "input/files/pending_file.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// `there` != `note`.
Error other_build(const fs::path& into, std::string_view there, std::string_view note) {
  std::string_view its_line;
  std::string_view our_line;
  while (its_line == our_line && !(there.empty() && note.empty())) {
    its_line = take_line(there);
    our_line = take_line(note);
  }
  return {Errc::already_exists,
          fmt::format("{} holds another build: \"{}\", and this one is of \"{}\"; name another "
                      "folder, or delete it",
                      (into / kBuildNote).string(), its_line, our_line)};
}

/// Removes what is_left() says, where there is nothing else.
void remove_leftovers(const fs::path& into, IsLeft is_left) {
  std::error_code failed;
  std::vector<fs::path> left;
  for (fs::directory_iterator at(into, failed), end; !failed && at != end; at.increment(failed)) {
    if (!is_left(at->path().filename().string())) return;
    left.push_back(at->path());
  }
  for (const fs::path& path : left) fs::remove_all(path, failed);
}

bool is_half_note(std::string_view name) { return is_pending_name(name, kBuildNote); }

}  // namespace

Result<FolderLock> begin_in_empty_folder(const fs::path& into, IsLeft is_left) {
  STERNA_TRY(make_directory(into));
  STERNA_ASSIGN(FolderLock lock, FolderLock::take(into));
  remove_leftovers(into, is_left);
  std::error_code ignored;
  if (fs::is_empty(into, ignored)) return lock;
  return Error{Errc::already_exists,
               fmt::format("{} is there and not empty; name another folder", into.string())};
}

Result<FolderLock> begin_build(const fs::path& into, std::string_view note) {
  const fs::path path = into / kBuildNote;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    STERNA_ASSIGN(FolderLock lock, begin_in_empty_folder(into, is_half_note));
    STERNA_TRY(write_atomically(path, note));
    return lock;
  }
  STERNA_ASSIGN(FolderLock lock, FolderLock::take(into));
  STERNA_ASSIGN(const std::string there, read_file(path));
  if (there == note) return lock;
  return other_build(into, there, note);
}

}  // namespace sterna::input
