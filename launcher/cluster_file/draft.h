// A cluster file half read: every key is known, well typed and in range, but nothing was compared
// with anything else yet. Reading fills a Draft; finish() turns it into a ClusterFile.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/keys.h"

namespace sterna::launcher {

/// Where something was written: a line of the file, or an override; neither: nowhere.
struct Where {
  int line = 0;
  std::string override_text;
};

/// The mistakes found so far, one line each.
class Problems {
 public:
  explicit Problems(std::string path) : path_(std::move(path)) {}

  void add(const Where& where, const std::string& message);
  bool any() const { return !lines_.empty(); }
  /// All of them, in the order of the file, overrides last.
  Error error() const;
  /// "PATH:12", "PATH", or "--set a.b=c".
  std::string place(const Where& where) const;

 private:
  struct Line {
    Where where;
    std::string text;
  };
  std::string path_;
  std::vector<Line> lines_;
};

/// The keys of a cluster file as written, lists unexpanded.
struct Draft : actors::JobSections {
  RootSection root;
  std::vector<HostSection> hosts;
  std::vector<ActorSection> actors;
  ClusterSection cluster;
  ProgramSection program;
  LogSection log;
  MetricsSection metrics;
  JobSection job;
  DeadlinesSection deadlines;
  std::vector<FaultSection> faults;
  ChaosSection chaos;
  std::map<std::string, Where, std::less<>> given;  ///< by path: "job.steps", "actor.0.count"

  /// Where the key, or else the table, with this path was written.
  Where where(std::string_view path) const;
  bool has(std::string_view path) const { return given.find(path) != given.end(); }
  /// Whether some actor has a training role, or none a type of its own: then [job] counts.
  bool trains() const;
};

/// Reads TOML `text` and applies `overrides`; mistakes go to `problems`.
Draft read_draft(std::string_view text, std::span<const std::string> overrides, Problems& problems);

/// What the tensors of the job's net are called that are trained. Empty where something is wrong
/// with the net, which is said elsewhere.
std::vector<std::string> trained_tensors(const ClusterFile& file);
/// What is wrong with [init], as far as the file tells.
void check_init(const Draft& draft, const ClusterFile& file, Problems& problems);

/// The hosts with their addresses filled in, and what is wrong with them.
std::vector<HostSection> plan_hosts(const Draft& draft, Problems& problems);
/// Every process of a placed file binds ports of [cluster] ports: complains where they are too few.
void check_ports(const Draft& draft, const ClusterFile& file, Problems& problems);

/// Complains of what keys of [gradient] say together.
void check_gradient(const Draft& draft, const ClusterFile& file, Problems& problems);
/// And of those of the [[actor]] with this index.
void check_table(const Draft& draft, const ClusterFile& file, std::size_t index,
                 Problems& problems);

/// Complains, at the key `path`, of a host that there is not.
void check_host(const Draft& draft, const ClusterFile& file, const std::string& path,
                const std::string& host, Problems& problems);
/// Complains of this, at its key, or where the file leaves that out, at `otherwise`.
void add_mismatch(const Draft& draft, const std::optional<actors::Mismatch>& wrong,
                  std::string_view otherwise, Problems& problems);

/// Complains of [[inject.fault]]s that nobody could suffer.
void check_faults(const Draft& draft, const ClusterFile& file, Problems& problems);

/// Complains of words of [program] done_when that no actor goes by.
void check_done_when(const Draft& draft, const ClusterFile& file, Problems& problems);

/// Fills in what depends on other keys, expands lists and checks what belongs together.
/// `default_name` is the cluster's name where the file gives none.
ClusterFile finish(const Draft& draft, const std::string& default_name, Problems& problems);

}  // namespace sterna::launcher
