#include "runtime/base/log_tail.h"

#include <algorithm>
#include <fstream>

namespace sterna {

namespace {
constexpr std::streamoff kWindow = 4096;
constexpr std::size_t kLineLimit = 300;
}  // namespace

std::vector<std::string> log_tail(const std::string& path, std::size_t lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (path.empty() || !file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kWindow));
  std::vector<std::string> tail;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    tail.push_back(line.substr(0, kLineLimit));
  }
  if (tail.size() > lines) {
    tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(lines));
  }
  return tail;
}

}  // namespace sterna
