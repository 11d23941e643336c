#include "input/data_source.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

#include "input/idx.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The files of MNIST's form that `dir` lacks, plain and gzip.
std::vector<std::string> missing_files(const fs::path& dir) {
  std::vector<std::string> missing;
  for (const Split split : {Split::train, Split::test}) {
    const IdxNames names = mnist_names(split);
    for (const std::string name : {names.images, names.labels}) {
      if (!present(dir / name) && !present(dir / (name + ".gz"))) missing.push_back(name);
    }
  }
  return missing;
}

std::vector<fs::path> candidates(const fs::path& place) {
  return {place, place / "mnist", place / "digits"};
}

std::optional<DataLocation> look_in(const fs::path& place, const std::string& wanted) {
  for (const fs::path& dir : candidates(place)) {
    if (!missing_files(dir).empty()) continue;
    const char* name = present(dir / kDrawnMarker) ? "digits" : "mnist";
    if (wanted.empty() || wanted == name) return DataLocation{dir, name};
  }
  return std::nullopt;
}

/// Why a place that the user named will not do: what is missing where most is there.
Error nothing_in(const fs::path& place, std::string_view who, const std::string& wanted) {
  if (!present(place)) {
    return {Errc::not_found,
            fmt::format("{} {} does not exist; `sterna data make digits --out {}` makes it", who,
                        place.string(), place.string())};
  }
  fs::path best = place;
  std::vector<std::string> missing = missing_files(place);
  if (const auto other = look_in(place, {})) {
    return {Errc::not_found, fmt::format("{} {} holds {}, but data.name asks for {}", who,
                                         place.string(), other->name, wanted)};
  }
  for (const fs::path& dir : candidates(place)) {
    std::vector<std::string> here = missing_files(dir);
    if (here.size() < missing.size()) {
      best = dir;
      missing = std::move(here);
    }
  }
  return {
      Errc::not_found,
      fmt::format("{} {} holds no data: looked in it and its mnist/ and digits/ for MNIST's four "
                  "files, plain or .gz; {} lacks {}. `sterna data fetch mnist --dir DIR` and "
                  "`sterna data make digits --out DIR` make them",
                  who, place.string(), best.string(), fmt::join(missing, ", "))};
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
  struct Named {
    const std::optional<fs::path>& place;
    const char* who;
  };
  for (const Named& named :
       {Named{query.flag, "--data"}, Named{query.file, "the cluster file's data directory"}}) {
    if (!named.place) continue;
    if (auto found = look_in(*named.place, query.name)) return *std::move(found);
    return nothing_in(*named.place, named.who, query.name);
  }
  for (const auto& place : {query.env, query.cache}) {
    if (!place) continue;
    if (auto found = look_in(*place, query.name)) return *std::move(found);
  }
  if (query.name == "mnist") {
    return Error{Errc::not_found,
                 "data.name asks for mnist, and it is not in $STERNA_DATA or the cache: "
                 "`sterna data fetch mnist` gets it"};
  }
  if (!query.cache) {
    return Error{
        Errc::not_found,
        "no data set found, and no cache to draw digits into: give --data DIR, or set HOME "
        "or XDG_CACHE_HOME"};
  }
  return draw_into(*query.cache, query);
}

}  // namespace sterna::input
