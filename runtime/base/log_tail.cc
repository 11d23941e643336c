#include "runtime/base/log_tail.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace sterna {

namespace {
constexpr std::streamoff kWindow = 16384;  // a crash's calls and what was said before
constexpr std::size_t kLineLimit = 300;
/// One call of those that a process that crashes writes, "PROGRAM(FUNCTION+0x12)[0x7f3a2b1c]": of
/// use to whoever reads the log, and no reason for the end.
bool is_call(std::string_view line) {
  const std::size_t address = line.rfind("[0x");
  if (address == std::string_view::npos || !line.ends_with(']')) return false;
  const std::string_view digits = line.substr(address + 3, line.size() - address - 4);
  return (address == 0 || line[address - 1] == ')') &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
}  // namespace

std::vector<std::string> log_tail(const std::string& path, std::size_t lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (path.empty() || !file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kWindow));
  std::vector<std::string> tail;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || is_call(line)) continue;
    tail.push_back(line.substr(0, kLineLimit));
  }
  if (tail.size() > lines) {
    tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(lines));
  }
  return tail;
}

}  // namespace sterna
