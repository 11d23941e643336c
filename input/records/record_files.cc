#include "input/records/record_files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "input/files/listing.h"
#include "input/records/record_index.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kOf = "-of-";

/// "flowers_train_00003-of-00005.tfrecord": `before` "flowers_train_", number 3, total 5, `digits`
/// 5, `after` ".tfrecord". Without a number all but the ending is `before`.
struct SetName {
  std::string_view before;
  std::uint32_t number = 0;
  std::uint32_t total = 0;  ///< 0: not numbered
  std::size_t digits = 0;
  std::string_view after;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// At most nine digits, so that every number fits.
std::optional<std::uint32_t> number_in(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  std::uint32_t number = 0;
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

SetName set_name_of(std::string_view name) {
  SetName unnumbered;
  unnumbered.before = name;
  const std::size_t of = name.rfind(kOf);
  if (of == std::string_view::npos) return unnumbered;
  std::size_t first = of;
  while (first > 0 && is_digit(name[first - 1])) --first;
  std::size_t end = of + kOf.size();
  while (end < name.size() && is_digit(name[end])) ++end;
  const auto number = number_in(name.substr(first, of - first));
  const auto total = number_in(name.substr(of + kOf.size(), end - of - kOf.size()));
  if (!number || !total || *total == 0) return unnumbered;
  return {.before = name.substr(0, first),
          .number = *number,
          .total = *total,
          .digits = of - first,
          .after = name.substr(end)};
}

/// Takes one of `endings` off `name`.
bool take_ending(std::string_view& name, std::span<const std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    return true;
  }
  return false;
}

/// Whether a file of this name is taken for TFRecord's, and if so, the words before its number.
std::optional<std::string_view> words_of(std::string_view name) {
  constexpr std::array<std::string_view, 3> kPacked{".gz", ".zlib", ".zz"};
  constexpr std::array<std::string_view, 3> kRecords{".tfrecord", ".tfrecords", ".record"};
  const SetName set = set_name_of(name);
  std::string_view rest = set.total == 0 ? name : set.after;
  take_ending(rest, kPacked);
  const bool named = take_ending(rest, kRecords);
  if (set.total == 0) return named ? std::optional(rest) : std::nullopt;
  return rest.empty() ? std::optional(set.before) : std::nullopt;
}

bool holds_one_of(std::string_view name, std::span<const std::string_view> wanted) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("-_."), name.size());
    if (std::find(wanted.begin(), wanted.end(), name.substr(0, end)) != wanted.end()) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

/// The names of the regular files of `dir`, in order, without the indexes kept there.
Result<std::vector<std::string>> record_names_in(const fs::path& dir) {
  STERNA_ASSIGN(std::vector<std::string> names, names_in(dir, fs::file_type::regular));
  std::erase_if(
      names, [](const std::string& name) { return name.find(kIndexSuffix) != std::string::npos; });
  return names;
}

/// The sets of one folder differ in what stands around the number, or in how many files they have.
bool same_set(const SetName& a, const SetName& b) {
  if (a.total == 0 || b.total == 0) return a.total == b.total && a.before == b.before;
  return a.before == b.before && a.total == b.total && a.after == b.after;
}

Error several_sets(const fs::path& dir, std::string_view one, std::string_view other) {
  return {
      Errc::invalid_argument,
      fmt::format("{}: {} and {} are of different sets; move one away, or name the files of one "
                  "by a pattern (data.train_files, data.test_files)",
                  dir.string(), one, other)};
}

/// One set, all of whose files are there.
Result<void> check_one_set(const fs::path& dir, std::vector<std::string>& names) {
  const SetName first = set_name_of(names.front());
  for (const std::string& name : names) {
    if (!same_set(first, set_name_of(name))) return several_sets(dir, names.front(), name);
  }
  if (first.total == 0) return {};
  // Names of different widths ("9-of-10", "10-of-10") are in another order than their numbers.
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return set_name_of(a).number < set_name_of(b).number;
  });
  for (std::uint32_t expected = 0; expected < first.total; ++expected) {
    const bool there = expected < names.size();
    const std::uint32_t number = there ? set_name_of(names[expected]).number : first.total;
    if (number == expected) continue;
    if (number < expected) return several_sets(dir, names[expected - 1], names[expected]);
    return Error{
        Errc::not_found,
        fmt::format("{}: {}{:0{}}-of-{:0{}}{} is missing; fetch it, or name the files that "
                    "are there by a pattern (data.train_files, data.test_files)",
                    dir.string(), first.before, expected, first.digits, first.total, first.digits,
                    first.after)};
  }
  if (names.size() > first.total) return several_sets(dir, names[first.total - 1], names.back());
  return {};
}

std::vector<fs::path> paths_of(const fs::path& dir, const std::vector<std::string>& names) {
  std::vector<fs::path> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(dir / name);
  return paths;
}

}  // namespace

Result<std::vector<std::string>> record_names(const fs::path& dir,
                                              std::span<const std::string_view> words) {
  STERNA_ASSIGN(std::vector<std::string> names, record_names_in(dir));
  std::erase_if(names, [words](const std::string& name) {
    const auto told = words_of(name);
    return !told || (!words.empty() && !holds_one_of(*told, words));
  });
  return names;
}

Result<std::vector<fs::path>> find_record_files(const fs::path& dir,
                                                std::span<const std::string_view> words) {
  STERNA_ASSIGN(std::vector<std::string> names, record_names(dir, words));
  if (names.empty()) {
    return Error{Errc::not_found,
                 fmt::format("{} has no TFRecord files named as {}-00000-of-00002 or "
                             "data_{}.tfrecord; rename them, or name them by a pattern "
                             "(data.train_files, data.test_files)",
                             dir.string(), fmt::join(words, "|"), words.front())};
  }
  STERNA_TRY(check_one_set(dir, names));
  return paths_of(dir, names);
}

Result<std::vector<fs::path>> match_record_files(const fs::path& dir, std::string_view pattern) {
  const fs::path whole = dir / fs::path(pattern);
  const fs::path folder = whole.parent_path();
  const std::string wanted = whole.filename().string();
  STERNA_ASSIGN(std::vector<std::string> names, record_names_in(folder));
  std::erase_if(names, [&wanted](const std::string& name) {
    return ::fnmatch(wanted.c_str(), name.c_str(), FNM_PERIOD) != 0;
  });
  if (names.empty()) {
    return Error{Errc::not_found,
                 fmt::format("{} has no file that fits the pattern {}", folder.string(), wanted)};
  }
  // Of all that are numbered, those with the same words must be of one count.
  for (std::size_t i = 1; i < names.size(); ++i) {
    const SetName one = set_name_of(names[i - 1]);
    const SetName next = set_name_of(names[i]);
    const bool numbered = one.total != 0 && next.total != 0 && one.before == next.before;
    if (numbered && !same_set(one, next)) return several_sets(folder, names[i - 1], names[i]);
  }
  return paths_of(folder, names);
}

}  // namespace sterna::input
