#include "input/build/chosen_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "input/batches/permutation.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// No run counts so many epochs: what is drawn here is drawn for no batch.
constexpr std::uint64_t kTrainOrder = std::uint64_t{1} << 40;
constexpr std::uint64_t kValidationOrder = kTrainOrder + 1;
constexpr std::uint64_t kFirstClass = kTrainOrder + 2;

void shuffle(std::vector<PictureFolder::Picture>& pictures, std::uint64_t seed,
             std::uint64_t order) {
  if (pictures.empty()) return;
  const Permutation permutation(seed, pictures.size(), order);
  std::vector<PictureFolder::Picture> shuffled;
  shuffled.reserve(pictures.size());
  for (std::uint64_t i = 0; i < pictures.size(); ++i) {
    shuffled.push_back(std::move(pictures[permutation(i)]));
  }
  pictures = std::move(shuffled);
}

/// Moves `share` of each class from `train` to `validation`.
void hold_back(ChosenPictures& chosen, double share, std::uint64_t seed) {
  std::vector<PictureFolder::Picture> all = std::exchange(chosen.train.pictures, {});
  // A class lies in one piece, as it was listed.
  for (auto begin = all.begin(); begin != all.end();) {
    const std::uint16_t label = begin->label;
    const auto end =
        std::find_if(begin, all.end(), [label](const auto& other) { return other.label != label; });
    const auto count = static_cast<std::uint64_t>(end - begin);
    const auto held =
        std::min(static_cast<std::uint64_t>(std::floor(share * static_cast<double>(count) + 0.5)),
                 count - 1);
    const Permutation place(seed, count, kFirstClass + label);
    for (std::uint64_t i = 0; begin != end; ++begin, ++i) {
      PictureFolder& to = place(i) < held ? chosen.validation : chosen.train;
      to.pictures.push_back(std::move(*begin));
    }
  }
}

}  // namespace

Result<ChosenPictures> choose_pictures(const fs::path& dir, double share, std::uint64_t seed) {
  const fs::path train = split_folder(dir, Split::train).value_or(dir);
  ChosenPictures chosen;
  STERNA_ASSIGN(chosen.train, list_picture_folder(train));
  STERNA_ASSIGN(std::optional<PictureFolder> validation, list_split(dir, Split::test));
  if (validation) {
    chosen.validation = *std::move(validation);
  } else {
    chosen.validation.classes = chosen.train.classes;
    hold_back(chosen, share, seed);
  }
  shuffle(chosen.train.pictures, seed, kTrainOrder);
  shuffle(chosen.validation.pictures, seed, kValidationOrder);
  return chosen;
}

}  // namespace sterna::input
