#include "input/place/data_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "input/formats/format.h"
#include "input/place/data_set.h"
#include "input/place/nearly_data.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// What `dir` lacks to be a whole data set.
std::vector<std::string> missing_files(const fs::path& dir, const DataOptions& options) {
  return missing_files(format_of(dir, options), dir, options);
}

/// The names of the folders that a place may hold a data set in.
std::vector<std::string_view> folder_names() {
  std::vector<std::string_view> names = data_set_names();
  std::erase_if(names, [](std::string_view name) { return lies_nowhere(*find_data_set(name)); });
  return names;
}

std::vector<fs::path> candidates(const fs::path& place) {
  std::vector<fs::path> folders{place};
  for (const std::string_view name : folder_names()) folders.push_back(place / name);
  return folders;
}

/// The folders of shards in `dir`, in the order of their names.
std::vector<fs::path> shard_folders(const fs::path& dir) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(dir, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (present(entry->path() / kShardFile)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// Whether all files are in `dir`, and those that are asked for.
std::optional<DataLocation> accept(const fs::path& dir, const DataQuery& query) {
  if (!missing_files(dir, query.options).empty()) return std::nullopt;
  const std::string_view name = data_set_in(dir, query.options).name;
  if (!query.name.empty() && query.name != name) return std::nullopt;
  return DataLocation{dir, std::string(name)};
}

std::optional<DataLocation> look_in(const fs::path& place, const DataQuery& query) {
  const auto beside_others = [&](const fs::path& dir, const fs::path& shard) {
    std::optional<DataLocation> found = accept(shard, query);
    if (found) found->shards_in = dir;
    return found;
  };
  for (const fs::path& dir : candidates(place)) {
    if (query.shard) {
      if (auto found = beside_others(dir, dir / folder_name(*query.shard))) return found;
    }
    if (auto found = accept(dir, query)) return found;
    if (!query.any_shard) continue;
    for (const fs::path& shard : shard_folders(dir)) {
      if (auto found = beside_others(dir, shard)) return found;
    }
  }
  return std::nullopt;
}

/// Of a place that holds shards, but none that will do.
std::optional<Error> other_shards_in(const fs::path& place, std::string_view who,
                                     const DataQuery& query) {
  std::vector<std::string> others;
  for (const fs::path& dir : candidates(place)) {
    for (const fs::path& shard : shard_folders(dir)) others.push_back(shard.filename().string());
  }
  if (others.empty()) return std::nullopt;
  return Error{Errc::not_found,
               fmt::format("{} {} holds no whole data set{}, only {}; `sterna data split` makes "
                           "shards of as many as there are readers",
                           who, place.string(),
                           query.shard ? " and no complete " + folder_name(*query.shard) : "",
                           fmt::join(others, ", "))};
}

/// Of a place that is not there, or no folder.
Error no_folder(const fs::path& place, std::string_view who, const DataQuery& query) {
  const auto refused = [&](std::string_view why) {
    return Error{Errc::not_found, fmt::format("{} {} {}", who, place.string(), why)};
  };
  if (present(place)) {
    return refused("is a file; give the folder it is in, and unpack it if it is an archive");
  }
  const DataSet* set = find_data_set(query.name);
  if (set == nullptr) {
    return refused(
        "does not exist; correct it, or leave it out to look in $STERNA_DATA and the cache "
        "(~/.cache/sterna)");
  }
  return refused(is_made_where_missing(*set)
                     ? fmt::format("does not exist; `sterna data make {} --out {}` makes it",
                                   set->name, place.string())
                     : fmt::format("does not exist; {} comes from {}", set->name, set->source));
}

/// What would have been a data set.
std::string what_was_wanted(const DataQuery& query) {
  const DataSet* set = find_data_set(query.name);
  if (set == nullptr || set->format->files == nullptr) {
    return fmt::format(
        "neither it nor its {}/ has MNIST's or CIFAR's files, TFRecord files with train and with "
        "validation or test in their names, or train/ and val/ with a folder of JPEGs and PNGs for "
        "each class",
        fmt::join(folder_names(), "/, "));
  }
  return fmt::format(
      "neither it nor its {}/ has {} (or .gz of it) and the others of {}; that "
      "comes from {}",
      query.name, set->format->files(Split::train).front(), query.name,
      is_made_where_missing(*set) ? "`sterna data make digits`" : set->source);
}

/// Why a place that the user named will not do: what is there, and what is missing for what that
/// looks most like.
Error nothing_in(const fs::path& place, std::string_view who, const DataQuery& query) {
  std::error_code ignored;
  if (!fs::is_directory(place, ignored)) return no_folder(place, who, query);
  DataQuery of_any_name = query;
  of_any_name.name.clear();
  if (const auto other = look_in(place, of_any_name)) {
    return {Errc::not_found, fmt::format("{} {} holds {}, but {} asks for {}", who, place.string(),
                                         other->name, query.name_word, query.name)};
  }
  if (auto others = other_shards_in(place, who, query)) return *std::move(others);
  for (const fs::path& dir : candidates(place)) {
    const std::string of =
        dir == place ? std::string(who) : fmt::format("{} {}:", who, place.string());
    if (auto nearly = nearly_data(dir, of, query.options)) return *std::move(nearly);
  }
  return {Errc::not_found, fmt::format("{} {} holds no data: {}; {}", who, place.string(),
                                       what_it_holds(place), what_was_wanted(query))};
}

/// Unless it is two.
Result<DataLocation> checked(DataLocation found, const DataQuery& query) {
  STERNA_TRY(check_one_format(found.dir, query.options));
  return found;
}

Result<DataLocation> draw_into(const fs::path& cache, const DataQuery& query) {
  const fs::path dir = cache / "digits";
  if (query.say) {
    query.say(
        fmt::format("no data set found: drawing handwritten-looking digits into {} (the real "
                    "MNIST: `sterna data fetch mnist`)",
                    dir.string()));
  }
  STERNA_TRY(make_digits(dir, query.digits, query.progress));
  return DataLocation{dir, "digits", true};
}

}  // namespace

std::optional<fs::path> cache_directory(const Environment& environment) {
  const auto xdg = environment("XDG_CACHE_HOME");
  if (xdg && fs::path(*xdg).is_absolute()) return fs::path(*xdg) / "sterna";
  const auto home = environment("HOME");
  if (home && !home->empty()) return fs::path(*home) / ".cache" / "sterna";
  return std::nullopt;
}

std::optional<fs::path> data_directory(const Environment& environment) {
  const auto value = environment("STERNA_DATA");
  if (!value || value->empty()) return std::nullopt;
  return fs::path(*value);
}

Result<DataLocation> find_data(const DataQuery& query) {
  const DataSet* set = find_data_set(query.name);
  if (set != nullptr && lies_nowhere(*set)) return DataLocation{{}, query.name};
  struct Named {
    const std::optional<fs::path>& place;
    std::string_view who;
  };
  for (const Named& named : {Named{query.flag, query.flag_word},
                             Named{query.file, "the cluster file's data directory"}}) {
    if (!named.place) continue;
    if (auto found = look_in(*named.place, query)) return checked(*std::move(found), query);
    return nothing_in(*named.place, named.who, query);
  }
  for (const auto& place : {query.env, query.cache}) {
    if (!place) continue;
    if (auto found = look_in(*place, query)) return checked(*std::move(found), query);
  }
  if (set != nullptr && !set->source.empty()) {
    return Error{Errc::not_found,
                 fmt::format("{} asks for {}, and it is not in $STERNA_DATA or the cache: it "
                             "comes from {}",
                             query.name_word, query.name, set->source)};
  }
  if (!query.draws) return Error{Errc::not_found, "no data set found"};
  if (!query.cache) {
    return Error{Errc::not_found,
                 fmt::format("no data set found, and no cache to draw digits into: give {} DIR, or "
                             "set HOME or XDG_CACHE_HOME",
                             query.flag_word)};
  }
  return draw_into(*query.cache, query);
}

}  // namespace sterna::input
