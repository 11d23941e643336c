// The one table of the cluster file's keys: name, field, range, meaning. Validation, the help, the
// README's table and the resolved file are all derived from it, so they cannot disagree. Defaults
// are the member initializers of the sections' structs.
#pragma once

#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// The keys above the first table.
struct RootSection {
  std::int64_t format = 0;
};

template <class S>
using Field =
    std::variant<std::int64_t S::*, double S::*, bool S::*, std::string S::*, Duration S::*,
                 std::vector<std::string> S::*, std::optional<PortRange> S::*, ByteCount S::*,
                 std::vector<std::int64_t> S::*, std::map<std::string, std::string> S::*,
                 JsonObject S::*>;

/// The limits of a number, or of each in a list (durations in seconds); `open` excludes the limit
/// itself.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
};

/// One key of section S.
template <class S>
struct Key {
  std::string_view name;
  Field<S> field;
  std::string_view help;
  std::string_view default_note;  ///< for defaults that depend on other keys
  std::vector<std::string_view> choices;
  Limits limits;
  bool required = false;
  bool identifier = false;  ///< part of file and socket names: letters, digits, _ - . (each, if
                            ///< it is a list; of a table, the names are variables')

  Key&& one_of(std::vector<std::string_view> values) && {
    choices = std::move(values);
    return std::move(*this);
  }
  Key&& at_least(double low) && {
    limits.low = low;
    return std::move(*this);
  }
  Key&& above(double low) && {
    limits.low = low;
    limits.low_open = true;
    return std::move(*this);
  }
  Key&& at_most(double high) && {
    limits.high = high;
    return std::move(*this);
  }
  Key&& below(double high) && {
    limits.high = high;
    limits.high_open = true;
    return std::move(*this);
  }
  Key&& defaults_to(std::string_view note) && {
    default_note = note;
    return std::move(*this);
  }
  Key&& must_be_given() && {
    required = true;
    return std::move(*this);
  }
  Key&& is_identifier() && {
    identifier = true;
    return std::move(*this);
  }
};

/// One table of the file: [name], or [[name]] where `list`.
template <class S>
struct Section {
  std::string_view name;
  bool list = false;
  std::string_view help;
  std::vector<Key<S>> keys;
};

/// All sections, in the order of the resolved file.
struct ClusterKeys {
  Section<RootSection> root;
  Section<ClusterSection> cluster;
  Section<ProgramSection> program;
  Section<HostSection> host;
  Section<ActorSection> actor;
  Section<JobSection> job;
  Section<DataSection> data;
  Section<OptimizerSection> optimizer;
  Section<GradientSection> gradient;
  Section<EvaluationSection> evaluation;
  Section<DeadlinesSection> deadlines;

  template <class Visitor>
  void for_each(Visitor&& visit) const {
    visit(root);
    visit(cluster);
    visit(program);
    visit(host);
    visit(actor);
    visit(job);
    visit(data);
    visit(optimizer);
    visit(gradient);
    visit(evaluation);
    visit(deadlines);
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
  std::string title;  ///< "[job]", "[[actor]]" or "" for the keys above the first table
  std::string help;
  std::vector<KeyDescription> keys;
};

/// The table in words, in the order of the file.
std::vector<SectionDescription> describe_keys();
/// Every key's full name: "format", "cluster.name", …
std::vector<std::string> key_names();
/// describe_keys() for a terminal, and as a Markdown table for the README.
std::string keys_as_text();
std::string keys_as_markdown();

/// "at least 1", "above 0 and below 1", or "" without limits.
std::string describe(const Limits& limits);
/// `"a", "b" or "c"`
std::string describe(const std::vector<std::string_view>& choices);

}  // namespace sterna::launcher
