#include "launcher/bench/exchange/gloo_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "launcher/text/shell_word.h"

namespace sterna::launcher {

namespace {

constexpr int kNoTorch = 77;
/// Long enough for 25.6 M elements at 50 Mbit/s.
constexpr std::chrono::seconds kMost{900};

struct Ended {
  int exit = -1;
  std::string said;
};

Ended wait_for(std::FILE* rank) {
  Ended ended;
  std::array<char, 512> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), rank)) {
    ended.said.append(chunk.data(), got);
  }
  const int status = ::pclose(rank);
  if (WIFEXITED(status)) ended.exit = WEXITSTATUS(status);
  return ended;
}

}  // namespace

Result<double> run_gloo(const std::string& script, const ExchangeShape& shape,
                        const EmulatedHosts* hosts) {
  const std::string address = hosts != nullptr ? EmulatedHosts::address(0) : "127.0.0.1";
  const std::string interface = hosts != nullptr ? EmulatedHosts::kInterface : "lo";
  std::vector<std::FILE*> ranks;
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    std::optional<EmulatedHosts::Visit> there;
    if (hosts != nullptr) there.emplace(*hosts, static_cast<std::size_t>(rank));
    const std::string command = fmt::format(
        "exec timeout {} python3 {} --rank {} --ranks {} --elements {} --address {} --interface {}",
        kMost.count(), shell_word(script), rank, shape.ranks, shape.elements, address, interface);
    std::FILE* pipe = ::popen(command.c_str(), "re");
    if (pipe == nullptr) return system_error("python3", errno);
    ranks.push_back(pipe);
  }
  std::vector<Ended> ended;
  ended.reserve(ranks.size());
  for (std::FILE* rank : ranks) ended.push_back(wait_for(rank));
  const Ended& first = ended.front();
  if (first.exit == kNoTorch) return Error{Errc::unavailable, "python3 has no torch"};
  const auto said = nlohmann::json::parse(first.said, nullptr, false);
  if (first.exit != 0 || !said.is_object() || !said.contains("ms_per_all_reduce")) {
    return Error{Errc::remote, fmt::format("{} ended with exit code {}", script, first.exit)};
  }
  return said["ms_per_all_reduce"].get<double>() / 1e3;
}

}  // namespace sterna::launcher
