#include "launcher/run/run_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "actors/reader/data_folder.h"
#include "input/place/data_set.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/text/environment.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"
#include "runtime/base/file.h"

namespace sterna::launcher {

namespace {

/// The hosts that are this machine and have an actor that reads data.
std::vector<const HostSection*> readers_here(const ClusterFile& file) {
  std::vector<const HostSection*> here;
  const HostSection* head = head_of(file);
  for (const HostSection& host : file.hosts) {
    if (is_remote(file, host) && &host != head) continue;
    if (reads_data(file, host)) here.push_back(&host);
  }
  return here;
}

/// The folder that the file names for this machine; empty: none, or not for all of its hosts here.
std::string named_folder(const ClusterFile& file) {
  if (!file.data.dir.empty()) return file.data.dir;
  const std::vector<const HostSection*> here = readers_here(file);
  const bool all = std::all_of(here.begin(), here.end(),
                               [](const HostSection* host) { return !host->data.empty(); });
  return all && !here.empty() ? here.front()->data : "";
}

input::DataQuery query_for(const ClusterFile& file) {
  input::DataQuery query;
  query.any_shard = file.shards() > 0;
  if (file.data.name != input::kAnyDataSet) query.name = file.data.name;
  query.options = actors::data_options(file.data, file.job.seed);
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  return query;
}

Result<void> check_splits(const input::DataLocation& data, const ClusterFile& file) {
  for (const input::Split split : {input::Split::train, input::Split::test}) {
    STERNA_TRY(input::data_facts(data.dir, split, actors::data_options(file.data, file.job.seed)));
  }
  return {};
}

}  // namespace

Result<void> check_classes_unseen(const ClusterFile& file) {
  if (!file.trains() || file.data.classes == 0) return {};
  input::DataLocation data = data_elsewhere(file);
  if (needs_data_here(file)) {
    input::DataQuery query = query_for(file);
    query.draws = false;
    const Result<input::DataLocation> found = input::find_data(query);
    if (found && !found->dir.empty()) STERNA_TRY(check_splits(*found, file));
    if (found) data = *found;
  }
  const input::DataSet* set = input::find_data_set(data.name);
  return set != nullptr ? check_class_count(file, *set) : Result<void>();
}

Result<input::DataLocation> find_run_data(const std::string& flag, const ClusterFile& file,
                                          const Console& console) {
  input::DataQuery query = query_for(file);
  if (!flag.empty()) query.flag = flag;
  if (const std::string named = named_folder(file); !named.empty()) {
    query.file = expand_home(named);
  }
  query.say = [&console](std::string_view line) { console.say(line); };
  const SteadyClock clock;
  ProgressLine line(clock);
  query.progress = [&](std::size_t done, std::size_t total) {
    line.show(fmt::format("drawing digits: {} of {}", thousands(static_cast<std::int64_t>(done)),
                          thousands(static_cast<std::int64_t>(total))));
  };
  const Result<input::DataLocation> looked = input::find_data(query);
  if (!looked && query.file && file.data.dir.empty() && !query.flag) {
    return looked.error().in(fmt::format("host \"{}\"", readers_here(file).front()->name));
  }
  STERNA_ASSIGN(input::DataLocation found, looked);
  if (file.shards() == 0) STERNA_TRY(input::check_shard(found.dir, std::nullopt));
  STERNA_TRY(check_splits(found, file));
  return found;
}

Result<void> check_data_flag(const std::string& flag, const ClusterFile& file) {
  if (flag.empty() || needs_data_here(file)) return {};
  std::vector<std::string> readers;
  for (const HostSection& host : file.hosts) {
    if (reads_data(file, host)) readers.push_back(host.name);
  }
  if (readers.empty()) {
    return Error{Errc::invalid_argument, "--data: no actor of this file reads data"};
  }
  return Error{Errc::invalid_argument,
               fmt::format("--data is for the machine that the run is started on, and the actors "
                           "that read data are on {}: set data.dir, the folder on all of them, or "
                           "host.data of each",
                           fmt::join(readers, ", "))};
}

bool needs_data_here(const ClusterFile& file) {
  if (counts_epochs(file)) return true;
  return (file.trains() && !file.placed()) || !readers_here(file).empty();
}

bool names_data_here(const ClusterFile& file) {
  return needs_data_here(file) && !named_folder(file).empty();
}

input::DataLocation data_elsewhere(const ClusterFile& file) {
  const bool any = file.data.name == input::kAnyDataSet;
  return {file.data.dir, any ? std::string(input::usual_data_set().name) : file.data.name, false};
}

}  // namespace sterna::launcher
