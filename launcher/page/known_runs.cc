#include "launcher/page/known_runs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "launcher/page/run_story.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/growing_file.h"
#include "launcher/text/json_line.h"
#include "launcher/view/read_result.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

Json in_short(const std::string& directory) {
  const Result<Json> result = read_result(directory);
  if (!result) return nullptr;
  return json_kept(*result, {"cause", "codec", "data"},
                   {"exit", "steps", "seconds", "precision_at_1", "recall_at_5", "loss", "bytes_up",
                    "bytes_down"});
}

}  // namespace

std::vector<KnownRun> known_runs(const std::string& directory,
                                 const std::vector<RunState>& remembered) {
  const fs::path around = absolute_directory(directory);
  std::set<fs::path> paths = {around};
  std::error_code failed;
  for (fs::directory_iterator entry(around.parent_path(), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    paths.insert(entry->path());
  }
  for (const RunState& state : remembered) {
    if (state.head.empty() && !state.run_directory.empty()) {
      paths.insert(absolute_directory(state.run_directory));
    }
  }
  std::vector<std::pair<fs::file_time_type, KnownRun>> dated;
  for (const fs::path& path : paths) {
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(path / "metrics.jsonl", missing);
    if (!missing) dated.emplace_back(time, KnownRun{path.filename().string(), path.string()});
  }
  std::ranges::stable_sort(dated, std::greater<>(), [](const auto& one) { return one.first; });
  if (dated.size() > kMostKnownRuns) dated.resize(kMostKnownRuns);
  std::vector<KnownRun> runs;
  runs.reserve(dated.size());
  for (auto& [time, run] : dated) runs.push_back(std::move(run));
  return runs;
}

std::string known_runs_json(const std::vector<KnownRun>& runs, const std::string& own) {
  const std::string own_path = absolute_directory(own);
  Json json = Json::array();
  for (const KnownRun& run : runs) {
    json.push_back({{"name", run.name},
                    {"directory", run.directory},
                    {"own", run.directory == own_path},
                    {"result", in_short(run.directory)}});
  }
  return json_line(json);
}

std::string run_story_json(const std::string& directory) {
  GrowingFile metrics(directory + "/metrics.jsonl");
  RunStory story;
  bool any = false;
  do {
    for (const std::string& text : metrics.lines()) {
      const Json line = Json::parse(text, nullptr, false);
      if (!line.is_object()) continue;
      story.take(line);
      any = true;
    }
  } while (metrics.has_more());
  return any ? json_line(story.all()) : "null";
}

}  // namespace sterna::launcher
