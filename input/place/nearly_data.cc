#include "input/place/nearly_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "input/files/listing.h"
#include "input/formats/picture_folder.h"
#include "input/formats/tfrecord_folder.h"
#include "input/place/data_set.h"
#include "input/records/record_files.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// So many names of one kind are told.
constexpr std::size_t kMostTold = 5;

/// None where `dir` cannot be listed.
std::vector<std::string> visible_names(const fs::path& dir, fs::file_type type) {
  Result<std::vector<std::string>> names = visible_names_in(dir, type);
  return names ? *std::move(names) : std::vector<std::string>();
}

/// Of TFRecord files of several sets, of a set that is not whole, of one split or of none, or where
/// none fits the user's patterns.
std::optional<Error> nearly_records(const fs::path& dir, std::string_view who,
                                    const DataOptions& options) {
  const bool asked = !options.train_files.empty() || !options.test_files.empty();
  const auto train = record_files(dir, Split::train, options);
  const auto test = record_files(dir, Split::test, options);
  const auto has = [&dir](std::span<const std::string_view> words) {
    const auto names = record_names(dir, words);
    return names.ok() && !names->empty();
  };
  const std::pair<const Result<std::vector<fs::path>>&, std::span<const std::string_view>>
      splits[] = {{train, kTrainingWords}, {test, kTestWords}};
  for (const auto& [files, words] : splits) {
    if (files) continue;
    // What there is of the split is of several sets, or not all of one.
    if (asked || has(words)) return files.error().in(who);
  }
  if (train || test) {
    const auto& there = train ? train : test;
    const Error& lacking = train ? test.error() : train.error();
    return Error{Errc::not_found, fmt::format("{} {} holds TFRecord files to {} ({}) alone: {}",
                                              who, dir.string(), train ? "train on" : "test with",
                                              there->front().filename().string(), lacking.message)};
  }
  const auto others = record_names(dir, {});
  if (!others || others->empty()) return std::nullopt;
  return Error{Errc::not_found,
               fmt::format("{} {} holds TFRecord files ({}), but none has {} in its name to be "
                           "trained on, and none {} to test with; rename them, or name them by a "
                           "pattern (data.train_files, data.test_files)",
                           who, dir.string(), others->front(), fmt::join(kTrainingWords, " or "),
                           fmt::join(kTestWords, " or "))};
}

/// Of some, but not all of the files of a set whose names are fixed.
std::optional<Error> nearly_named_files(const fs::path& dir, std::string_view who,
                                        const DataOptions& options) {
  const Format& format = format_of(dir, options);
  if (format.files == nullptr) return std::nullopt;
  const std::vector<std::string> missing = missing_files(format, dir, options);
  if (missing.size() >= format.files(Split::train).size() + format.files(Split::test).size()) {
    return std::nullopt;
  }
  const DataSet& set = data_set_in(dir, options);
  return Error{Errc::not_found,
               fmt::format("{} {} looks like {}, but lacks {} (or .gz of it); {} comes from {}",
                           who, dir.string(), set.name, fmt::join(missing, ", "), set.name,
                           is_made_where_missing(set) ? "`sterna data make digits`" : set.source)};
}

/// Whether a folder in `dir` holds a picture.
bool has_class_folder(const fs::path& dir) {
  return std::ranges::any_of(
      visible_names(dir, fs::file_type::directory), [&dir](const std::string& folder) {
        return std::ranges::any_of(visible_names(dir / folder, fs::file_type::regular), is_picture);
      });
}

/// The folder in `dir` that is called like one of the words, in whatever case; "": none.
std::string folder_like(const fs::path& dir, std::span<const std::string_view> words) {
  std::string found;
  for (const std::string& name : visible_names(dir, fs::file_type::directory)) {
    for (const std::string_view word : words) {
      if (name == word) return name;
      if (in_small_letters(name) == word) found = name;
    }
  }
  return found;
}

/// Of a folder with one for each split, of which one is missing, has another name or no pictures.
std::optional<Error> nearly_split_folders(const fs::path& dir, std::string_view who) {
  const std::string train = folder_like(dir, kTrainingWords);
  const std::string test = folder_like(dir, kTestWords);
  const auto pictures_in = [&dir](const std::string& name) {
    return !name.empty() && has_class_folder(dir / name);
  };
  if (!pictures_in(train) && !pictures_in(test)) return std::nullopt;
  const auto lacking = [&](std::string_view there, std::string_view what) {
    return Error{Errc::not_found, fmt::format("{} {} holds {}/ with pictures, but {}", who,
                                              dir.string(), there, what)};
  };
  if (train.empty()) {
    return lacking(
        test, "no train/ beside it, whose folders say which classes there are; put that there");
  }
  if (test.empty()) {
    return lacking(train, fmt::format("no val/ (or validation/, valid/, test/) beside it; put some "
                                      "pictures of each class there, or `sterna data build {} "
                                      "--into OUT` holds some back",
                                      dir.string()));
  }
  for (const std::string& name : {train, test}) {
    if (name == in_small_letters(name)) continue;
    return lacking(name == train ? test : train,
                   fmt::format("{}/ beside it is not looked for under that name; rename it, in "
                               "small letters",
                               name));
  }
  for (const std::string& name : {train, test}) {
    const Result<PictureFolder> listed = list_picture_folder(dir / name);
    if (!listed) return listed.error().in(who);
  }
  return std::nullopt;
}

/// Of the pictures of one split, or of a class without any.
std::optional<Error> nearly_class_folders(const fs::path& dir, std::string_view who) {
  if (!has_class_folder(dir)) return std::nullopt;
  const Result<PictureFolder> listed = list_picture_folder(dir);
  if (!listed) {
    return Error{listed.error().code, fmt::format("{} {} holds folders of pictures, but {}", who,
                                                  dir.string(), listed.error().message)};
  }
  const fs::path around = fs::absolute(dir / "").lexically_normal().parent_path().parent_path();
  const bool whole = split_folder(around, Split::train) && split_folder(around, Split::test);
  return Error{
      Errc::not_found,
      fmt::format("{} {} holds folders of pictures, but of one split alone; {}", who, dir.string(),
                  whole ? fmt::format("give the folder around it, {}", around.string())
                        : fmt::format("give a folder with train/ (these) and val/ in it, or make "
                                      "one: `sterna data build {} --into OUT` holds some back",
                                      dir.string()))};
}

/// "3 files (a, b, c)", "1 folder (a)".
std::string counted(std::size_t count, std::string_view what, std::vector<std::string> names) {
  if (names.size() > kMostTold) {
    names.resize(kMostTold);
    names.emplace_back("...");
  }
  return fmt::format("{} {}{} ({})", count, what, count == 1 ? "" : "s", fmt::join(names, ", "));
}

}  // namespace

std::optional<Error> nearly_data(const fs::path& dir, std::string_view who,
                                 const DataOptions& options) {
  if (auto records = nearly_records(dir, who, options)) return records;
  if (auto named = nearly_named_files(dir, who, options)) return named;
  if (auto splits = nearly_split_folders(dir, who)) return splits;
  return nearly_class_folders(dir, who);
}

std::string what_it_holds(const fs::path& dir) {
  const std::vector<std::string> files = visible_names(dir, fs::file_type::regular);
  std::vector<std::string> folders = visible_names(dir, fs::file_type::directory);
  std::set<std::string> kinds;
  for (const std::string& file : files) {
    const std::string ending = fs::path(file).extension().string();
    kinds.insert(ending.empty() ? file : ending);
  }
  std::vector<std::string> parts;
  if (!files.empty()) parts.push_back(counted(files.size(), "file", {kinds.begin(), kinds.end()}));
  for (std::string& folder : folders) folder += '/';
  if (!folders.empty()) parts.push_back(counted(folders.size(), "folder", folders));
  return parts.empty() ? "it is empty" : fmt::format("it holds {}", fmt::join(parts, " and "));
}

}  // namespace sterna::input
