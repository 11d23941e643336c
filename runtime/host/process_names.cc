#include "runtime/host/process_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>  // and how we were called
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sterna {

namespace {

constexpr const char* kMark = "__process";
constexpr const char* kOwnerMark = "__own";
constexpr std::size_t kArguments = 5;

template <class Number>
bool parse(const std::string& text, int base, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && stopped == end;
}

std::vector<std::string> command_line(const std::filesystem::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

}  // namespace

std::string own_program_name() { return program_invocation_short_name; }

std::vector<std::string> child_arguments(const std::string& program, const std::string& name,
                                         std::uint64_t run, std::int64_t parent) {
  return {std::filesystem::path(program).filename().string(), kMark, name,
          fmt::format("{:016x}", run), std::to_string(parent)};
}

namespace {

std::optional<ChildArguments> parse_marked(const std::vector<std::string>& arguments,
                                           const char* mark) {
  if (arguments.size() != kArguments || arguments[1] != mark) return std::nullopt;
  ChildArguments child;
  child.name = arguments[2];
  if (!parse(arguments[3], 16, child.run) || !parse(arguments[4], 10, child.parent)) {
    return std::nullopt;
  }
  return child;
}

}  // namespace

std::optional<ChildArguments> parse_child_arguments(const std::vector<std::string>& arguments) {
  return parse_marked(arguments, kMark);
}

std::vector<std::string> owner_arguments(const std::string& name, std::uint64_t run,
                                         std::int64_t parent) {
  return {"sterna", kOwnerMark, name, fmt::format("{:016x}", run), std::to_string(parent)};
}

std::optional<ChildArguments> parse_owner_arguments(const std::vector<std::string>& arguments) {
  return parse_marked(arguments, kOwnerMark);
}

std::vector<FoundProcess> processes_of_run(std::uint64_t run) {
  std::vector<FoundProcess> found;
  std::error_code ignored;  // processes come and go while we look
  for (std::filesystem::directory_iterator entry("/proc", ignored), end; entry != end;
       entry.increment(ignored)) {
    std::int64_t pid = 0;
    if (!parse(entry->path().filename().string(), 10, pid) || pid == ::getpid()) continue;
    const auto child = parse_child_arguments(command_line(entry->path()));
    if (child && child->run == run) found.push_back({pid, child->name});
  }
  return found;
}

}  // namespace sterna
