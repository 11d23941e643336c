// The one table of the cluster file's keys: name, field, range, meaning. Validation, the help,
// docs/keys.md and the resolved file are all derived from it, so they cannot disagree. Defaults
// are the member initializers of the sections' structs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/base/section.h"

namespace sterna::launcher {

/// The keys above the first table.
struct RootSection {
  std::int64_t format = 0;
};

/// All sections, in the order of the resolved file; those of actors::JobSections are only visited.
struct ClusterKeys {
  Section<RootSection> root;
  Section<ClusterSection> cluster;
  Section<ProgramSection> program;
  Section<LogSection> log;
  Section<MetricsSection> metrics;
  Section<HostSection> host;
  Section<ActorSection> actor;
  Section<JobSection> job;
  Section<DeadlinesSection> deadlines;
  Section<FaultSection> fault;
  Section<ChaosSection> chaos;

  template <class Visitor>
  void for_each(Visitor&& visit) const {
    visit(root);
    visit(cluster);
    visit(program);
    visit(log);
    visit(metrics);
    visit(host);
    visit(actor);
    visit(job);
    const actors::JobSections initial;
    actors::for_each_section(initial, [&](const auto& section, const auto&) { visit(section); });
    visit(deadlines);
    visit(fault);
    visit(chaos);
  }
};

ClusterKeys cluster_keys();

/// A key as a person reads it, e.g. {"job.batch", "integer", "32", "at least 1", "examples …"}.
struct KeyDescription {
  std::string key;
  std::string type;
  std::string default_value;
  std::string allowed;
  std::string help;
};

struct SectionDescription {
  std::string name;   ///< "job", "inject.fault" or "" for the keys above the first table
  std::string title;  ///< "[job]", "[[actor]]" or "" for the keys above the first table
  std::string help;
  std::vector<KeyDescription> keys;
};

/// The table in words, in the order of the file.
std::vector<SectionDescription> describe_keys();
/// Of it what `word` means: a section ("job", "[job]", "inject.fault"), or one key ("job.net").
/// not_found, with the nearest of both, if that is none.
Result<std::vector<SectionDescription>> describe_keys(std::string_view word);
/// Every key's full name: "format", "cluster.name", …
std::vector<std::string> key_names();
/// Descriptions for a terminal, and as a Markdown table for docs/keys.md.
std::string keys_as_text(const std::vector<SectionDescription>& sections);
std::string keys_as_markdown(const std::vector<SectionDescription>& sections);

}  // namespace sterna::launcher
