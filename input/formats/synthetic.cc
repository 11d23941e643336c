#include "input/formats/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "input/files/sha256.h"
#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kTraining = 65'536;
constexpr std::uint64_t kTest = 1'024;
constexpr std::uint32_t kClasses = 10;

/// What names the set among the readers of a run.
std::string sha256_of(const SyntheticPictures& pictures, std::uint32_t classes) {
  const std::string text =
      fmt::format("synthetic {} x {} x {}, {} classes, seed {}", pictures.shape.rows,
                  pictures.shape.columns, pictures.shape.channels, classes, pictures.seed);
  Sha256 sum;
  sum.update(std::as_bytes(std::span(text)));
  return sum.hex();
}

class SyntheticSource final : public Source {
 public:
  SyntheticSource(Split split, const DataOptions& options)
      : pictures_(options.synthetic.value_or(SyntheticPictures{})), split_(split) {
    facts_.classes = options.classes > 0 ? options.classes : kClasses;
    facts_.count = split == Split::train ? std::max<std::uint64_t>(kTraining, facts_.classes)
                                         : std::max<std::uint64_t>(kTest, facts_.classes);
    facts_.shape = pictures_.shape;
    facts_.family = options.family;
    facts_.sha256 = sha256_of(pictures_, facts_.classes);
  }

  const SourceFacts& facts() const override { return facts_; }

  /// Bytes 16·b to 16·b + 15 are the words of the Philox counter (b, example, split) under the
  /// stream `synthetic`, each with its lowest byte first.
  Result<StoredExample> read(std::uint64_t index) const override {
    assert(index < facts_.count);
    StoredExample example;
    example.own.resize(pictures_.shape.bytes());
    std::span<std::uint8_t> rest = example.own;
    for (std::uint32_t block = 0; !rest.empty(); ++block) {
      const std::array<std::uint32_t, 4> words =
          kernels::philox({block, static_cast<std::uint32_t>(index),
                           static_cast<std::uint32_t>(split_ == Split::train ? 0 : 1),
                           static_cast<std::uint32_t>(kernels::Stream::synthetic)},
                          pictures_.seed);
      const std::size_t size = std::min(rest.size(), sizeof(words));
      std::memcpy(rest.data(), words.data(), size);
      rest = rest.subspan(size);
    }
    example.picture = {Coding::pixels, example.own, pictures_.shape};
    example.label = static_cast<std::uint16_t>(index % facts_.classes);
    return example;
  }

 private:
  SyntheticPictures pictures_;
  Split split_;
  SourceFacts facts_;
};

Result<std::shared_ptr<const Source>> open(const fs::path& /*dir*/, Split split,
                                           const DataOptions& options) {
  return std::shared_ptr<const Source>(std::make_shared<const SyntheticSource>(split, options));
}

Result<SourceFacts> facts_of(const fs::path& /*dir*/, Split split, const DataOptions& options) {
  return SyntheticSource(split, options).facts();
}

/// No folder looks like it: it has to be asked for.
bool looks_like_it(const fs::path& /*dir*/, const DataOptions& options) {
  return options.synthetic.has_value();
}

}  // namespace

constexpr Format kSynthetic{.name = "synthetic",
                            .files = nullptr,
                            .load = nullptr,
                            .facts = facts_of,
                            .write = nullptr,
                            .open = open,
                            .holds = looks_like_it};

}  // namespace sterna::input
