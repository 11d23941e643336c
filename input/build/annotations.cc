#include "input/build/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/build/box_file.h"
#include "input/files/sha256.h"
#include "input/files/text_lines.h"
#include "input/formats/file_mark.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

using Names = std::map<std::string, std::string, std::less<>>;

/// "n01440764<tab>tench, Tinca tinca" a line.
Result<Names> parse_names(std::string_view text, const std::string& path) {
  constexpr std::string_view kBlank = " \t";
  Names names;
  std::size_t number = 0;
  for (std::string_view line : lines_of(text)) {
    ++number;
    line = line.substr(0, line.find_last_not_of(kBlank) + 1);
    if (line.empty()) continue;
    const std::size_t folder = line.find_first_of(kBlank);
    const std::size_t name =
        folder == std::string_view::npos ? folder : line.find_first_not_of(kBlank, folder);
    if (folder == 0 || name == std::string_view::npos) {
      return Error{Errc::malformed,
                   fmt::format("{}:{}: wants a class folder, white space, and what it is called",
                               path, number)};
    }
    names.emplace(line.substr(0, folder), line.substr(name));
  }
  return names;
}

}  // namespace

Result<Annotations> Annotations::open(const fs::path& names, const fs::path& boxes,
                                      const std::vector<std::string>& classes) {
  Annotations opened;
  opened.boxes_ = boxes;
  opened.folders_ = classes;
  opened.class_names_ = classes;
  std::error_code ignored;
  if (!boxes.empty() && !fs::is_directory(boxes, ignored)) {
    return Error{Errc::not_found, boxes.string() + ": there is no such folder of boxes"};
  }
  if (names.empty()) return opened;
  STERNA_ASSIGN(const std::string text, read_file(names));
  STERNA_ASSIGN(const Names known, parse_names(text, names.string()));
  std::set<std::string> taken;
  for (std::string& name : opened.class_names_) {
    const auto found = known.find(name);
    if (found == known.end()) {
      return Error{
          Errc::not_found,
          fmt::format("{} does not say what the class folder {} is called", names.string(), name)};
    }
    const std::string folder = std::exchange(name, found->second);
    if (!taken.insert(name).second) name += fmt::format(" ({})", folder);
  }
  Sha256 sum;
  sum.update(std::as_bytes(std::span(text)));
  opened.note_of_names_ = fmt::format("names sha256 {}\n", sum.hex());
  return opened;
}

std::string Annotations::synset_of(std::uint16_t label) const {
  return folders_[label] == class_names_[label] ? std::string() : folders_[label];
}

fs::path Annotations::box_file(const PictureFolder::Picture& picture) const {
  const fs::path name = picture.path.stem().string() + ".xml";
  std::error_code ignored;
  for (const fs::path& path : {boxes_ / folders_[picture.label] / name, boxes_ / name}) {
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

Result<std::vector<Box>> Annotations::boxes_of(const PictureFolder::Picture& picture) const {
  std::vector<Box> boxes;
  if (boxes_.empty()) return boxes;
  const fs::path path = box_file(picture);
  if (path.empty()) return boxes;
  STERNA_ASSIGN(const std::vector<NamedBox> all, read_boxes(path));
  for (const NamedBox& one : all) {
    const bool other = one.name != folders_[picture.label] &&
                       std::ranges::find(folders_, one.name) != folders_.end();
    if (!other) boxes.push_back(one.box);
  }
  return boxes;
}

Result<std::size_t> Annotations::add_box_files(const PictureFolder& folder, Sha256& sum) const {
  std::size_t files = 0;
  for (const PictureFolder::Picture& picture : folder.pictures) {
    const fs::path path = box_file(picture);
    if (path.empty()) continue;
    STERNA_ASSIGN(const FileMark mark, mark_of(path));
    const std::string line = fmt::format("{}/{}/{}\n", path.lexically_relative(boxes_).string(),
                                         mark.size, mark.modified_ns);
    sum.update(std::as_bytes(std::span(line)));
    ++files;
  }
  return files;
}

Result<std::string> Annotations::note_of(const PictureFolder& train,
                                         const PictureFolder& validation) const {
  if (boxes_.empty()) return std::string();
  Sha256 sum;
  STERNA_ASSIGN(const std::size_t files, add_box_files(train, sum));
  if (files == 0 && !train.pictures.empty()) {
    return Error{
        Errc::not_found,
        fmt::format("{} has boxes for none of the pictures; they are looked for as {}.xml, "
                    "in the folder of their class and beside it",
                    boxes_.string(), train.pictures.front().path.stem().string())};
  }
  STERNA_ASSIGN(const std::size_t others, add_box_files(validation, sum));
  return fmt::format("boxes {} and {} sha256 {}\n", files, others, sum.hex());
}

}  // namespace sterna::input
