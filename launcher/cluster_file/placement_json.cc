// The placement of a cluster file as one line of JSON.

#include "launcher/cluster_file/placement_view.h"
#include "launcher/text/json_line.h"

namespace sterna::launcher {
namespace {

constexpr int kFormat = 1;

Json to_json(const ActorPlan& actor) {
  Json json = {{"name", actor.name}};
  if (actor.type.empty()) {
    json["role"] = facts_of(actor.role).name;
  } else {
    json["type"] = actor.type;
    json["args"] = Json::parse(actor.args_json, nullptr, false);
  }
  if (actor.ranks > 0) {
    json["first_rank"] = actor.first_rank;
    json["ranks"] = actor.ranks;
  }
  if (actor.shards > 0) {
    json["shard"] = actor.shard;
    json["shards"] = actor.shards;
  }
  json["cpus"] = actor.cpus;
  json["devices"] = actor.devices;
  json["memory"] = actor.memory;
  return json;
}

Json to_json(const ClusterFile& file, const HostUse& use) {
  Json actors = Json::array();
  for (const ActorPlan& actor : use.actors) actors.push_back(to_json(actor));
  return {{"name", use.host.name},
          {"address", use.host.address},
          {"bind", use.host.bind},
          {"ssh", file.cluster.placing().reached_by_ssh(use.host) ? use.host.ssh : ""},
          {"cpus", use.host.cpus},
          {"cpus_used", use.cpus},
          {"gpus", use.host.gpus},
          {"gpus_used", use.gpus},
          {"memory", use.host.memory.count},
          {"memory_used", use.memory},
          {"labels", use.host.labels},
          {"processes", use.processes},
          {"ports", use.ports},
          {"actors", std::move(actors)}};
}

}  // namespace

std::string placement_json(const ClusterFile& file) {
  Json json;
  json["format"] = kFormat;
  json["name"] = file.cluster.name;
  json["placer"] = file.cluster.placer;
  json["placed"] = file.placed();
  json["head"] = file.cluster.head;
  json["hosts"] = Json::array();
  for (const HostUse& use : host_uses(file)) json["hosts"].push_back(to_json(file, use));
  if (!file.placed()) {
    json["actors"] = Json::array();
    for (const ActorPlan& actor : file.actors) json["actors"].push_back(to_json(actor));
  }
  return json_line(json);
}

}  // namespace sterna::launcher
