#include "input/formats/picture_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "input/files/linked_file.h"
#include "input/formats/labels.h"
#include "input/formats/picture_folder.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBlock = 64;

Result<PictureFolder> list(const fs::path& dir, Split split) {
  STERNA_ASSIGN(std::optional<PictureFolder> listed, list_split(dir, split));
  if (listed) return *std::move(listed);
  return Error{Errc::not_found,
               fmt::format("{} has no folder of {} pictures ({})", dir.string(),
                           split == Split::train ? "training" : "test",
                           split == Split::train ? "train" : "val, valid, validation or test")};
}

SourceFacts facts_about(const PictureFolder& folder, std::string_view family) {
  return {.count = folder.pictures.size(),
          .shape = {0, 0, 3},
          .classes = static_cast<std::uint32_t>(folder.classes.size()),
          .family = family};
}

class PictureSource final : public Source {
 public:
  PictureSource(PictureFolder folder, SourceFacts facts)
      : folder_(std::move(folder)), facts_(std::move(facts)) {}

  const SourceFacts& facts() const override { return facts_; }
  Result<StoredExample> read(std::uint64_t index) const override {
    assert(index < facts_.count);
    return read_picture(folder_, index);
  }
  std::string place_of(std::uint64_t index) const override {
    return folder_.pictures[index].path.string();
  }
  ExampleRange block_of(std::uint64_t index) const override {
    const std::uint64_t first = index / kBlock * kBlock;
    return {first, std::min(first + kBlock, facts_.count)};
  }

 private:
  PictureFolder folder_;
  SourceFacts facts_;
};

Result<PictureFolder> list_for(const fs::path& dir, Split split, const DataOptions& options) {
  STERNA_ASSIGN(PictureFolder folder, list(dir, split));
  if (options.classes == 0 || options.classes >= folder.classes.size()) return folder;
  return Error{Errc::invalid_argument,
               fmt::format("{} has {} class folders, and data.classes = {}", dir.string(),
                           folder.classes.size(), options.classes)};
}

Result<std::shared_ptr<const Source>> open(const fs::path& dir, Split split,
                                           const DataOptions& options) {
  STERNA_ASSIGN(PictureFolder folder, list_for(dir, split, options));
  SourceFacts facts = facts_about(folder, options.family);
  STERNA_ASSIGN(facts.sha256, sha256_of(folder));
  return std::shared_ptr<const Source>(
      std::make_shared<const PictureSource>(std::move(folder), std::move(facts)));
}

/// Without what names the pictures, for which each file would have to be looked at.
Result<SourceFacts> facts_of(const fs::path& dir, Split split, const DataOptions& options) {
  STERNA_ASSIGN(const PictureFolder folder, list_for(dir, split, options));
  return facts_about(folder, options.family);
}

/// Whether there are class folders in folders of both splits.
bool looks_like_it(const fs::path& dir, const DataOptions& /*options*/) {
  for (const Split split : {Split::train, Split::test}) {
    const std::optional<fs::path> folder = split_folder(dir, split);
    std::error_code error;
    if (!folder) return false;
    bool found = false;
    for (fs::directory_iterator entry(*folder, error);
         !error && !found && entry != fs::directory_iterator(); entry.increment(error)) {
      found = entry->is_directory(error);
    }
    if (!found) return false;
  }
  return true;
}

/// With a labels.txt, as some classes may have no picture in `range`.
Result<void> lay(const fs::path& dir, Split split, const ExampleRange& range, const fs::path& into,
                 const DataOptions& /*options*/) {
  STERNA_ASSIGN(const PictureFolder folder, list(dir, split));
  const fs::path to = into / (split == Split::train ? "train" : "val");
  for (std::uint64_t i = range.first; i < range.end; ++i) {
    const PictureFolder::Picture& picture = folder.pictures[i];
    const fs::path of_class = to / folder.classes[picture.label];
    STERNA_TRY(make_directory(of_class));
    STERNA_TRY(link_or_copy(picture.path, of_class / picture.path.filename()));
  }
  return write_labels(into / kLabelsFile, {folder.classes, 0});
}

}  // namespace

constexpr Format kPictureFolder{.name = "pictures",
                                .files = nullptr,
                                .load = nullptr,
                                .facts = facts_of,
                                .write = nullptr,
                                .open = open,
                                .holds = looks_like_it,
                                .signs = "train val|valid|validation|test",
                                .lay = lay};

}  // namespace sterna::input
