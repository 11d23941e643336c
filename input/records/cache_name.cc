#include "input/records/cache_name.h"

#include <span>
#include <system_error>

#include "input/files/sha256.h"

namespace sterna::input {

std::string cache_name(const std::filesystem::path& original) {
  std::error_code ignored;
  const std::string where = std::filesystem::weakly_canonical(original, ignored).string();
  Sha256 sum;
  sum.update(std::as_bytes(std::span(where)));
  return sum.hex().substr(0, 16) + "-" + original.filename().string();
}

}  // namespace sterna::input
