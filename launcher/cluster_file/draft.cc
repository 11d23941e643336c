// The mistakes of a cluster file, where they stand, and those that several checks find.
#include "launcher/cluster_file/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launcher/text/nearest.h"

namespace sterna::launcher {

void Problems::add(const Where& where, const std::string& message) {
  lines_.push_back({where, place(where) + ": " + message});
}

std::string Problems::place(const Where& where) const {
  if (!where.override_text.empty()) {
    std::string text = "--set " + where.override_text;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return text;
  }
  return where.line > 0 ? fmt::format("{}:{}", path_, where.line) : path_;
}

Error Problems::error() const {
  std::vector<Line> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) {
    const auto order = [](const Line& line) {
      return std::pair{!line.where.override_text.empty(), line.where.line};
    };
    return order(a) < order(b);
  });
  std::string text;
  for (const Line& line : sorted) {
    text += text.empty() ? "" : "\n";
    text += line.text;
  }
  return {Errc::invalid_argument, text};
}

Where Draft::where(std::string_view path) const {
  while (true) {
    const auto found = given.find(path);
    if (found != given.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return {};
    path = path.substr(0, dot);
  }
}

bool Draft::trains() const {
  return actors.empty() || std::any_of(actors.begin(), actors.end(), [](const auto& table) {
           return !table.role.empty() || table.type.empty();
         });
}

void check_host(const Draft& draft, const ClusterFile& file, const std::string& path,
                const std::string& host, Problems& problems) {
  std::vector<std::string> hosts;
  for (const HostSection& known : file.hosts) hosts.push_back(known.name);
  if (std::find(hosts.begin(), hosts.end(), host) != hosts.end()) return;
  problems.add(draft.where(path),
               fmt::format("there is no host \"{}\"{}", host, did_you_mean_of(host, hosts)));
}

void add_mismatch(const Draft& draft, const std::optional<actors::Mismatch>& wrong,
                  std::string_view otherwise, Problems& problems) {
  if (!wrong) return;
  const std::string key(draft.has(std::string(wrong->key)) ? wrong->key : otherwise);
  problems.add(draft.where(key), wrong->message);
}

}  // namespace sterna::launcher
