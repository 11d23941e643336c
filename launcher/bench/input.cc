#include "launcher/bench/input.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input/batches/prepare.h"
#include "input/formats/source.h"
#include "launcher/bench/memory_speed.h"
#include "launcher/bench/pictures.h"
#include "launcher/bench/pinned_pair.h"
#include "launcher/bench/raw_jpeg.h"
#include "launcher/bench/rounds.h"
#include "nets/tensor/pixels.h"

namespace sterna::launcher {

namespace {

constexpr std::uint64_t kPictures = 32;  // pictures, whose rows are written again and again

/// A family at a size, by the name of its figure.
struct Way {
  const char* name;
  const char* family;
  input::PictureShape shape;
};

/// cifar is the family that crops and flips and does not resize.
constexpr Way kCropAndFlip{"crop_flip_160", "cifar", {160, 160, 3}};
constexpr Way kInception{"inception_224", "inception", {224, 224, 3}};
constexpr std::array kOfJpegs{
    kCropAndFlip, kInception, Way{"alexnet_224", "alexnet", {224, 224, 3}},
    Way{"vgg_224", "vgg", {224, 224, 3}}, Way{"resize_crop_224", "resize_crop", {224, 224, 3}}};

/// A part of the examples, prepared for training: of another epoch each time. The first error is
/// kept.
class Preparing {
 public:
  Preparing(const Way& way, const input::Source& source, std::uint64_t first, std::uint64_t end)
      : source_(source), how_(how(way)), batch_(how_, kPictures), first_(first), end_(end) {}

  void run() {
    for (std::uint64_t begin = first_; begin < end_; begin += kPictures) {
      std::vector<input::BatchRow> rows(std::min(kPictures, end_ - begin));
      for (std::uint64_t i = 0; i < rows.size(); ++i) rows[i] = {epoch_, begin + i};
      Result<void> prepared =
          input::prepare_training(source_, 0, rows, how_, batch_.rows(rows.size()));
      if (!prepared && outcome_.ok()) outcome_ = std::move(prepared);
    }
    ++epoch_;
  }
  const Result<void>& outcome() const { return outcome_; }

 private:
  static input::Preparation how(const Way& way) {
    return {.family = input::find_family(way.family), .options = {.shape = way.shape}, .seed = 1};
  }

  const input::Source& source_;
  input::Preparation how_;
  input::PreparedBatch batch_;
  std::uint64_t first_;
  std::uint64_t end_;
  std::uint64_t epoch_ = 0;
  Result<void> outcome_;
};

/// libjpeg's own decode of a part of the JPEGs.
class Decoding {
 public:
  Decoding(const input::Source& source, std::uint64_t first, std::uint64_t end)
      : source_(source), first_(first), end_(end) {}

  void run() {
    for (std::uint64_t i = first_; i < end_; ++i) {
      Result<void> decoded = decode_raw(source_.read(i)->picture.bytes, pixels_);
      if (!decoded && outcome_.ok()) outcome_ = std::move(decoded);
      keep(pixels_.data());
    }
  }
  const Result<void>& outcome() const { return outcome_; }

 private:
  const input::Source& source_;
  std::uint64_t first_;
  std::uint64_t end_;
  std::vector<std::uint8_t> pixels_;
  Result<void> outcome_;
};

Result<void> add_jpegs(const BenchPictures& pictures, int rounds, Figures& figures) {
  const input::Source& source = *pictures.source;
  const std::uint64_t count = source.facts().count;
  Decoding decoding(source, 0, count);
  std::vector<std::unique_ptr<Preparing>> ways;
  std::vector<Contender> contenders{{"decode", [&] { decoding.run(); }}};
  for (const Way& way : kOfJpegs) {
    Preparing& preparing = *ways.emplace_back(std::make_unique<Preparing>(way, source, 0, count));
    contenders.push_back({way.name, [&preparing] { preparing.run(); }});
  }
  const RoundTimes times = RoundTimes::measure(contenders, rounds);
  STERNA_TRY(decoding.outcome());
  for (const auto& preparing : ways) STERNA_TRY(preparing->outcome());

  const double seconds = times.seconds("decode");
  figures["decode_pictures"] = static_cast<double>(count) / seconds;
  figures["decode_mpixels"] = pictures.pixels / seconds / 1e6;
  for (const Way& way : kOfJpegs) {
    figures[std::string(way.name) + "_over_decode"] = times.ratio("decode", way.name);
  }
  return {};
}

/// Two threads, each with half of the pictures, over one with all; the same of decoding says what
/// the machine has for a second thread.
Result<void> add_two_threads(const input::Source& source, int rounds, Figures& figures) {
  const std::uint64_t count = source.facts().count;
  const std::uint64_t half = count / 2;
  Preparing whole(kInception, source, 0, count);
  Decoding decoding(source, 0, count);
  std::array<Preparing, 2> preparing_halves{Preparing(kInception, source, 0, half),
                                            Preparing(kInception, source, half, count)};
  std::array<Decoding, 2> decoding_halves{Decoding(source, 0, half), Decoding(source, half, count)};
  PinnedPair pair;
  const RoundTimes times = RoundTimes::measure(
      {{"decode", [&] { decoding.run(); }},
       {"decode2", [&] { pair.run([&](int thread) { decoding_halves[thread].run(); }); }},
       {"prepare", [&] { whole.run(); }},
       {"prepare2", [&] { pair.run([&](int thread) { preparing_halves[thread].run(); }); }}},
      rounds);
  for (const Preparing& part : preparing_halves) STERNA_TRY(part.outcome());
  for (const Decoding& part : decoding_halves) STERNA_TRY(part.outcome());
  figures["two_thread_inception_224"] = times.ratio("prepare", "prepare2");
  figures["two_thread_decode"] = times.ratio("decode", "decode2");
  figures["two_thread_over_decode"] =
      times.ratio_of_ratios("prepare", "prepare2", "decode", "decode2");
  return {};
}

/// `count` made-up pictures of this shape, and how fast the way prepares them from memory.
Result<void> add_stored(const Way& way, const input::PictureShape& stored, std::size_t count,
                        int rounds, Figures& figures) {
  input::Dataset dataset{.count = count,
                         .rows = stored.rows,
                         .columns = stored.columns,
                         .channels = stored.channels,
                         .classes = 1,
                         .images = std::vector<std::uint8_t>(count * stored.bytes()),
                         .labels = std::vector<std::uint16_t>(count),
                         .family = way.family};
  std::uint32_t pixel = 0;
  for (std::uint8_t& byte : dataset.images) byte = static_cast<std::uint8_t>(pixel++ * 40503 >> 8);
  const input::MemorySource source(std::move(dataset));
  Preparing preparing(way, source, 0, count);
  const RoundTimes times = RoundTimes::measure({{way.name, [&] { preparing.run(); }}}, rounds);
  STERNA_TRY(preparing.outcome());
  figures[std::string(way.name) + "_pictures"] =
      static_cast<double>(count) / times.seconds(way.name);
  return {};
}

void add_to_values(int rounds, Figures& figures) {
  const std::size_t channels = kInception.shape.channels;
  const std::vector<std::uint8_t> pixels(kPictures * kInception.shape.bytes(), 100);
  const std::vector<float> levels(kPictures * 2 * channels, 0.5F);
  std::vector<float> values(pixels.size());
  const double seconds = repeated_seconds(
      [&] {
        nets::to_values({pixels, levels}, kPictures, channels, values);
        keep(values.data());
      },
      1, rounds);
  figures["to_values_gbps"] = static_cast<double>(values.size() * sizeof(float)) / seconds / 1e9;
}

}  // namespace

Result<Figures> bench_input(const InputBenchSetup& setup, const BenchProgress& progress) {
  STERNA_ASSIGN(const BenchPictures pictures,
                find_bench_pictures(setup.pictures, setup.most_pictures, progress));
  const auto count = static_cast<double>(pictures.source->facts().count);
  Figures figures{{"pictures", count},
                  {"pictures_are_drawn", pictures.drawn ? 1 : 0},
                  {"mpixels_of_a_picture", pictures.pixels / count / 1e6}};
  progress("families on JPEGs");
  STERNA_TRY(add_jpegs(pictures, setup.rounds, figures));
  progress("two threads");
  STERNA_TRY(add_two_threads(*pictures.source, setup.rounds, figures));
  progress("families on pictures in memory");
  STERNA_TRY(add_stored({"cifar_24", "cifar", {24, 24, 3}}, {32, 32, 3}, setup.stored, setup.rounds,
                        figures));
  STERNA_TRY(add_stored({"mnist_28", "mnist", {28, 28, 1}}, {28, 28, 1}, setup.stored, setup.rounds,
                        figures));
  progress("bytes to floats");
  add_to_values(setup.rounds, figures);
  return figures;
}

}  // namespace sterna::launcher
