#include "input/files/linked_file.h"

#include <fmt/format.h>

#include <system_error>

namespace sterna::input {

namespace fs = std::filesystem;

Result<void> link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::equivalent(from, to, error)) return {};
  const fs::path growing = to.string() + ".part";
  fs::remove(growing, error);
  // A link to a symbolic link would lead nowhere from another machine.
  const fs::path file = fs::canonical(from, error);
  if (!error) fs::create_hard_link(file, growing, error);
  if (error) fs::copy_file(from, growing, error);
  if (!error) fs::rename(growing, to, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(growing, ignored);
  return Error{Errc::io, fmt::format("cannot copy {} to {}: {}", from.string(), to.string(),
                                     error.message())};
}

}  // namespace sterna::input
