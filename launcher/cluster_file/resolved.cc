// A ClusterFile as TOML again, every key explicit. Actors are written as they were asked for: the
// same placement follows from the same hosts.
#include <algorithm>

#include "launcher/cluster_file/keys.h"

namespace sterna::launcher {
namespace {

using Names = std::vector<std::string_view>;

/// A text that is empty although nobody could write it so: the key does not apply.
template <class S>
bool does_not_apply(const Key<S>& key, const S& values) {
  return (key.identifier || !key.choices.empty()) && toml_text(key, values) == "\"\"";
}

template <class S>
void append(std::string& out, const Section<S>& section, const S& values,
            const Names& left_out = {}) {
  if (!section.name.empty()) out += '\n';
  append_section(out, section, values, [&](const Key<S>& key) {
    return std::find(left_out.begin(), left_out.end(), key.name) != left_out.end() ||
           does_not_apply(key, values);
  });
}

template <class S>
void append(std::string& out, const Section<S>& section, const std::vector<S>& all) {
  for (const S& values : all) append(out, section, values);
}

}  // namespace

std::string resolved(const ClusterFile& file) {
  const ClusterKeys keys = cluster_keys();
  std::string out;
  append(out, keys.root, RootSection{file.format});
  const bool brought = file.cluster.placing().brings_hosts;
  append(out, keys.cluster, file.cluster, brought ? Names{"head"} : Names{});
  append(out, keys.program, file.program);
  append(out, keys.log, file.log);
  append(out, keys.metrics, file.metrics);
  if (!brought) {
    for (const HostSection& host : file.hosts) append(out, keys.host, host);
  }
  for (const ActorSection& actor : file.tables) {
    Names left_out;
    for (const RoleFacts& other : roles()) {
      if (other.role != actor.plays()) left_out.push_back(other.own_key);
    }
    append(out, keys.actor, actor, left_out);
  }
  if (file.trains()) {
    append(out, keys.job, file.job, file.job.epochs > 0 ? Names{"steps"} : Names{});
    actors::for_each_section(
        file, [&](const auto& section, const auto& values) { append(out, section, values); });
  }
  append(out, keys.deadlines, file.deadlines);
  append(out, keys.fault, file.faults);
  append(out, keys.chaos, file.chaos);
  return out;
}

}  // namespace sterna::launcher
