#include "runtime/self_description.h"

#include <cstdio>
#include <filesystem>
#include <string_view>

#include "runtime/bundle.h"

namespace sterna {

namespace {

Result<std::string> bundle_hash() {
  std::error_code code;
  const auto program = std::filesystem::canonical("/proc/self/exe", code);
  if (code) return system_error("cannot find this program: /proc/self/exe", code.value());
  STERNA_ASSIGN(const Bundle bundle, read_bundle(program.parent_path().parent_path()));
  return bundle.hash;
}

int print(const Result<std::string>& line) {
  if (!line) {
    std::fprintf(stderr, "sterna: %s\n", line.error().message.c_str());
    return 1;
  }
  return std::puts(line->c_str()) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

std::optional<int> answer_about_itself(int argc, char** argv, const Registry&) {
  if (argc == 2 && std::string_view(argv[1]) == "__bundle-hash") return print(bundle_hash());
  return std::nullopt;
}

}  // namespace sterna
