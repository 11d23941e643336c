#include "input/formats/picture_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/files/listing.h"
#include "input/files/sha256.h"
#include "input/formats/file_mark.h"
#include "input/formats/labels.h"
#include "input/formats/name_forms.h"
#include "input/pictures/decode.h"
#include "input/records/record_files.h"
#include "input/records/tfrecord.h"
#include "runtime/base/file.h"
#include "runtime/base/value.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

bool is_hidden(const std::string& name) { return name.starts_with('.'); }

struct FoundLabels {
  fs::path path;
  bool shared = false;  ///< it lies around the folder, for other splits as well
};

/// The labels.txt that goes with `dir`.
std::optional<FoundLabels> labels_for(const fs::path& dir) {
  const fs::path own = dir / kLabelsFile;
  const fs::path around = (dir / ".." / kLabelsFile).lexically_normal();
  std::error_code ignored;
  if (fs::exists(own, ignored)) return FoundLabels{own, false};
  if (fs::exists(around, ignored)) return FoundLabels{around, true};
  return std::nullopt;
}

/// The classes in the order of their labels: `folders`, which are sorted, or what labels.txt names.
Result<std::vector<std::string>> classes_of(const fs::path& dir,
                                            const std::vector<std::string>& folders) {
  const std::optional<FoundLabels> found = labels_for(dir);
  if (!found) return folders;
  STERNA_ASSIGN(ClassLabels labels, read_labels(found->path));
  const auto refused = [](std::string why) {
    return Error{Errc::invalid_argument, std::move(why)};
  };
  const std::set<std::string_view> named(labels.names.begin(), labels.names.end());
  for (const std::string& folder : folders) {
    if (named.contains(folder)) continue;
    return refused(
        fmt::format("{} has the folder {}, which {} does not name; add it there, or "
                    "remove the file to count the folders by name{}",
                    dir.string(), folder, found->path.string(), other_form(folder, labels.names)));
  }
  // A small split may lack a class that another one has.
  if (found->shared) return std::move(labels.names);
  for (const std::string& name : labels.names) {
    if (std::ranges::binary_search(folders, name)) continue;
    return refused(
        fmt::format("{} names the class \"{}\", which has no folder in {}; correct it, "
                    "or remove it to count the folders by name",
                    found->path.string(), name, dir.string()));
  }
  return std::move(labels.names);
}

struct ClassFolders {
  std::vector<std::string> names;    // sorted
  std::vector<std::string> classes;  // by label
};

Result<ClassFolders> class_folders_in(const fs::path& dir) {
  ClassFolders found;
  STERNA_ASSIGN(found.names, names_in(dir, fs::file_type::directory));
  std::erase_if(found.names, is_hidden);
  if (found.names.empty()) {
    return Error{Errc::not_found,
                 fmt::format("{} has no class folders; put the pictures of each class in a folder "
                             "of its own there",
                             dir.string())};
  }
  if (found.names.size() > kMostClasses) {
    return Error{Errc::invalid_argument,
                 fmt::format("{} has {} class folders, and at most {} have labels; is it the "
                             "folder around them?",
                             dir.string(), found.names.size(), kMostClasses)};
  }
  const auto odd = std::ranges::find_if(found.names, breaks_a_line);
  if (odd != found.names.end()) {
    return Error{Errc::invalid_argument,
                 fmt::format("{} has the class folder {}, whose name holds the end of a line, "
                             "which no labels.txt can; rename the folder",
                             dir.string(), toml_quoted(*odd))};
  }
  STERNA_ASSIGN(found.classes, classes_of(dir, found.names));
  return found;
}

/// A link that leads nowhere is a picture that somebody has and this machine does not.
Result<void> check_links(const fs::path& dir) {
  STERNA_ASSIGN(const std::vector<std::string> broken, names_in(dir, fs::file_type::not_found));
  const auto picture = std::ranges::find_if(
      broken, [](const std::string& name) { return !is_hidden(name) && is_picture(name); });
  if (picture == broken.end()) return {};
  return Error{Errc::not_found,
               fmt::format("{} is a link that leads nowhere; put its picture there, or remove it",
                           (dir / *picture).string())};
}

/// Of `folders` folders these are `empty`: where most are, `dir` is something else.
Error without_pictures(const fs::path& dir, const std::vector<std::string>& empty,
                       std::size_t folders) {
  const std::string first = (dir / empty.front()).string();
  if (empty.size() * 2 <= folders) {
    return {
        Errc::not_found,
        fmt::format("{} is a class without a picture (.jpg, .jpeg, .png); put some there", first)};
  }
  return {Errc::not_found,
          fmt::format("{} is no data folder: {} of its {} folders hold no picture (.jpg, .jpeg, "
                      ".png), such as {}; one has a folder of pictures for each class, roses/1.jpg "
                      "and tulips/1.jpg, or train/ and val/ with such folders",
                      dir.string(), empty.size(), folders, first)};
}

/// The pictures in these folders of `dir`, labelled by their place among the classes.
Result<PictureFolder> list(const fs::path& dir, const ClassFolders& folders) {
  PictureFolder found;
  found.classes = folders.classes;
  std::map<std::string_view, std::uint16_t> labels;
  for (std::size_t i = 0; i < found.classes.size(); ++i) {
    labels[found.classes[i]] = static_cast<std::uint16_t>(i);
  }
  std::vector<std::string> empty;
  for (const std::string& folder : folders.names) {
    const auto label = labels.find(folder);
    if (label == labels.end()) {
      return Error{Errc::invalid_argument,
                   fmt::format("{} is of a class that the training pictures beside it do not have; "
                               "remove it, or put some of its pictures there{}",
                               (dir / folder).string(), other_form(folder, found.classes))};
    }
    STERNA_ASSIGN(const std::vector<std::string> files,
                  names_in(dir / folder, fs::file_type::regular));
    STERNA_TRY(check_links(dir / folder));
    const std::size_t before = found.pictures.size();
    for (const std::string& file : files) {
      if (is_hidden(file) || !is_picture(file)) continue;
      found.pictures.push_back({dir / folder / file, label->second});
    }
    if (found.pictures.size() == before) empty.push_back(folder);
  }
  if (!empty.empty()) return without_pictures(dir, empty, folders.names.size());
  return found;
}

void add(std::string line, Sha256& sum) {
  line += '\0';  // which no name holds
  sum.update(std::as_bytes(std::span(line)));
}

void add_classes(const PictureFolder& folder, Sha256& sum) {
  for (const std::string& name : folder.classes) add(name, sum);
}

void add(const PictureFolder& folder, const PictureFolder::Picture& picture, const FileMark& mark,
         Sha256& sum) {
  add(fmt::format("{}/{}/{}/{}/{}", picture.label, folder.classes[picture.label],
                  picture.path.filename().string(), mark.size, mark.ends.size()),
      sum);
  sum.update(std::as_bytes(std::span(mark.ends)));
}

}  // namespace

Result<std::string> sha256_of(const PictureFolder& folder) {
  // Of more, those of every second, third ... file: a disk may take 10 ms to find one.
  constexpr std::size_t kMostLookedInto = 65'536;
  Sha256 sum;
  add_classes(folder, sum);
  const std::size_t every =
      std::max<std::size_t>(1, (folder.pictures.size() + kMostLookedInto - 1) / kMostLookedInto);
  for (std::size_t i = 0; i < folder.pictures.size(); ++i) {
    const PictureFolder::Picture& picture = folder.pictures[i];
    FileMark mark;
    if (i % every == 0) {
      STERNA_ASSIGN(mark, mark_of(picture.path));
    } else {
      std::error_code failed;
      mark.size = fs::file_size(picture.path, failed);
      if (failed) return system_error("cannot read " + picture.path.string(), failed.value());
    }
    add(folder, picture, mark, sum);
  }
  return sum.hex();
}

Result<std::string> sha256_here(const PictureFolder& folder) {
  Sha256 sum;
  add_classes(folder, sum);
  for (const PictureFolder::Picture& picture : folder.pictures) {
    STERNA_ASSIGN(const FileMark mark, mark_of(picture.path));
    add(folder, picture, mark, sum);
    add(fmt::format("{}", mark.modified_ns), sum);
  }
  return sum.hex();
}

bool is_picture(const std::string& name) {
  constexpr std::array<std::string_view, 3> kEndings{".jpg", ".jpeg", ".png"};
  const std::string small = in_small_letters(name);
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return small.ends_with(ending); });
}

Result<PictureFolder> list_picture_folder(const fs::path& dir) {
  STERNA_ASSIGN(const ClassFolders folders, class_folders_in(dir));
  return list(dir, folders);
}

Result<std::optional<PictureFolder>> list_split(const fs::path& dir, Split split) {
  const std::optional<fs::path> folder = split_folder(dir, split);
  if (!folder) return std::optional<PictureFolder>();
  STERNA_ASSIGN(ClassFolders folders, class_folders_in(*folder));
  if (split == Split::test) {
    STERNA_ASSIGN(ClassFolders trained, class_folders_in(*split_folder(dir, Split::train)));
    folders.classes = std::move(trained.classes);
  }
  STERNA_ASSIGN(PictureFolder listed, list(*folder, folders));
  return std::optional(std::move(listed));
}

std::optional<fs::path> split_folder(const fs::path& dir, Split split) {
  const auto first_of = [&dir](auto word, auto end) -> std::optional<fs::path> {
    for (; word != end; ++word) {
      std::error_code ignored;
      if (fs::is_directory(dir / *word, ignored)) return dir / *word;
    }
    return std::nullopt;
  };
  auto train = first_of(kTrainingWords.begin(), kTrainingWords.end());
  if (split == Split::train || !train) return train;
  // What is held back from training goes before a test set, whose labels may be nobody's to know.
  return first_of(kTestWords.rbegin(), kTestWords.rend());
}

Result<StoredExample> read_picture(const PictureFolder& folder, std::uint64_t index) {
  assert(index < folder.pictures.size());
  const PictureFolder::Picture& picture = folder.pictures[index];
  Result<std::string> read = read_file(picture.path, kMostRecordBytes);
  if (!read) {
    // Too large a file is a damaged picture, as another may stand for it.
    const bool large = read.error().code == Errc::invalid_argument;
    return Error{large ? Errc::malformed : read.error().code, read.error().message};
  }
  const std::string& bytes = *read;
  StoredExample example;
  example.own.assign(bytes.begin(), bytes.end());
  STERNA_ASSIGN(example.picture.coding, coding_of(example.own).in(picture.path.string()));
  example.picture.bytes = example.own;
  example.label = picture.label;
  return example;
}

}  // namespace sterna::input
