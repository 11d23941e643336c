#include "input/files/linked_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

#include "input/files/byte_source.h"
#include "input/files/pending_file.h"
#include "runtime/base/random.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// False where there can be none.
bool make_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  // A link to a symbolic link would lead nowhere from another machine.
  const fs::path file = fs::canonical(from, error);
  if (error) return false;
  const fs::path growing = fmt::format("{}.{}", to.string(), SystemRandom().next());
  fs::create_hard_link(file, growing, error);
  if (error) return false;
  fs::rename(growing, to, error);
  if (!error) return true;
  std::error_code ignored;
  fs::remove(growing, ignored);
  return false;
}

Result<void> make_copy(const fs::path& from, const fs::path& to) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open_raw(from));
  STERNA_ASSIGN(PendingFile file, PendingFile::create(to));
  std::vector<std::uint8_t> window(std::size_t{64} * 1024);
  std::size_t got = 0;
  do {
    STERNA_ASSIGN(got, source.read(window));
    STERNA_TRY(file.append(std::span(window).first(got)));
  } while (got == window.size());
  return file.finish();
}

}  // namespace

Result<void> link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (fs::equivalent(from, to, ignored) || make_link(from, to)) return {};
  return make_copy(from, to).in(fmt::format("copying {} to {}", from.string(), to.string()));
}

}  // namespace sterna::input
