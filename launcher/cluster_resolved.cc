// A ClusterFile as TOML again, every key explicit.
#include "launcher/cluster_keys.h"
#include "launcher/cluster_value.h"

namespace sterna::launcher {
namespace {

template <class S>
void append(std::string& out, const Section<S>& section, const S& values,
            std::string_view left_out = "") {
  if (!section.name.empty()) {
    out += section.list ? "\n[[" : "\n[";
    out += section.name;
    out += section.list ? "]]\n" : "]\n";
  }
  for (const Key<S>& key : section.keys) {
    if (key.name == left_out) continue;
    out += key.name;
    out += " = ";
    out += toml_text(key, values);
    out += '\n';
  }
}

}  // namespace

std::string resolved(const ClusterFile& file) {
  const ClusterKeys keys = cluster_keys();
  std::string out;
  append(out, keys.root, RootSection{file.format});
  append(out, keys.cluster, file.cluster);
  for (const HostSection& host : file.hosts) append(out, keys.host, host);
  for (const ActorPlan& actor : file.actors) {
    ActorSection entry;
    entry.role = actor.role;
    entry.name = actor.name;
    entry.hosts = {actor.host};
    entry.ranks = actor.ranks;
    append(out, keys.actor, entry, actor.role == "worker" ? "" : "ranks");
  }
  append(out, keys.job, file.job);
  append(out, keys.data, file.data);
  append(out, keys.optimizer, file.optimizer);
  append(out, keys.gradient, file.gradient);
  append(out, keys.evaluation, file.evaluation);
  append(out, keys.deadlines, file.deadlines);
  return out;
}

}  // namespace sterna::launcher
