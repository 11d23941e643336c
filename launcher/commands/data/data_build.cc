// sterna data build: a folder of pictures to shuffled TFRecord files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "input/build/build_records.h"
#include "input/formats/passed_over.h"
#include "input/formats/picture_folder.h"
#include "input/place/class_names.h"
#include "launcher/commands/data/data_parts.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

constexpr std::int64_t kMostThreads = 256;

struct DataBuildOptions {
  std::string folder;
  std::string into;
  std::uint64_t seed = input::BuildOptions{}.seed;
  std::int64_t train_shards = input::BuildOptions{}.train_shards;
  std::int64_t validation_shards = input::BuildOptions{}.validation_shards;
  std::int64_t threads = 0;  ///< 0: as many as the machine has cores
  std::string validation = fmt::format("{:g}%", 100 * input::BuildOptions{}.validation);
  bool raw = false;
  std::int64_t resize = 0;
  std::int64_t first_label = 0;
  std::string names;
  std::string boxes;
};

/// "12.5%" → 0.125.
std::optional<double> share_of(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return percent / 100;
}

unsigned threads_of(std::int64_t asked) {
  if (asked > 0) return static_cast<unsigned>(asked);
  return std::max(std::thread::hardware_concurrency(), 1U);
}

/// What its folders hold that was not built, or does what their owner may not know.
void tell_of_folders(const std::string& folder, const Console& console) {
  const Result<input::PassedOver> passed = input::passed_over(folder);
  const std::string others = passed ? to_text(*passed) : "";
  if (!others.empty()) console.say("left out: " + printable(others));
  const auto hints = input::class_hints(folder, {});
  if (!hints) return;
  for (const std::string& hint : *hints) console.say(printable(hint));
}

void tell_left_out(const input::BuildReport& report, const Console& console) {
  const std::uint64_t left_out =
      report.train.left_out + (report.validation ? report.validation->left_out : 0);
  for (const std::string& line : report.left_out) console.say("left out: " + printable(line));
  if (left_out > report.left_out.size()) {
    console.say(
        fmt::format("left out: {} pictures in all that cannot be decoded", count_text(left_out)));
  }
}

std::string closing_line(const DataBuildOptions& options, const input::BuildReport& report) {
  std::string line = fmt::format("{}: {} pictures of {} classes to train on and {} to validate",
                                 options.into, count_text(report.train.records), report.classes,
                                 count_text(report.validation ? report.validation->records : 0));
  if (report.recoded > 0) {
    line += fmt::format(
        "; {} of those written now became JPEGs of quality 100, with some loss: "
        "they were PNGs or CMYK (--raw keeps what is decoded)",
        count_text(report.recoded));
  }
  return line + "\n";
}

int build(const DataBuildOptions& options, const Console& console) {
  const std::optional<double> share = share_of(options.validation);
  if (!share) {
    return console.report(
        {Errc::invalid_argument, fmt::format("--validation wants a share such as 10%, not \"{}\"",
                                             printable(options.validation))});
  }
  if (*share == 0 && !input::split_folder(options.folder, input::Split::test)) {
    return console.report(
        {Errc::invalid_argument,
         fmt::format("--validation {} leaves nothing to validate, and every run wants that: give a "
                     "larger share, or a folder with train/ and val/ in it",
                     options.validation)});
  }
  const SteadyClock clock;
  std::optional<Result<input::BuildReport>> built;
  {
    ProgressLine line(clock);
    built = input::build_records(
        options.folder, options.into,
        {.seed = options.seed,
         .train_shards = static_cast<std::uint32_t>(options.train_shards),
         .validation_shards = static_cast<std::uint32_t>(options.validation_shards),
         .threads = threads_of(options.threads),
         .validation = *share,
         .raw = options.raw,
         .side = static_cast<std::uint32_t>(options.resize),
         .first_label = static_cast<std::uint32_t>(options.first_label),
         .names = options.names,
         .boxes = options.boxes,
         .progress = [&](std::uint64_t done, std::uint64_t total) {
           line.show(
               fmt::format("building: {} of {} pictures", count_text(done), count_text(total)));
         }});
  }
  if (!*built) return console.report(built->error());
  const input::BuildReport& report = **built;
  tell_left_out(report, console);
  tell_of_folders(options.folder, console);
  const std::uint32_t kept = report.train.kept + (report.validation ? report.validation->kept : 0);
  if (kept > 0) console.say(fmt::format("{} files were there already and are kept", kept));
  return console.result(closing_line(options, report));
}

}  // namespace

Command data_build_command() {
  using Range = std::pair<std::int64_t, std::int64_t>;
  constexpr Range kShards = {1, input::kMostRecordShards};
  const auto o = std::make_shared<DataBuildOptions>();
  return {
      .name = "build",
      .help = "Pack folders of pictures, one a class, into shuffled TFRecord files",
      .arguments =
          {{"DIR", &o->folder, "Class folders, or train/ and val/ with class folders", "DIR", true},
           {"--into", &o->into, "The folder to write; a build of the same options goes on", "OUT",
            true},
           {.name = "--seed",
            .into = &o->seed,
            .help = "Same seed, same order and same bytes",
            .shows_default = true},
           {"--train-shards", &o->train_shards, "Files to train on", "N", false, true, kShards},
           {"--validation-shards", &o->validation_shards, "Files to validate", "N", false, true,
            kShards},
           {"--threads", &o->threads, "0: one a core; changes no byte", "N", false, true,
            Range{0, kMostThreads}},
           {"--validation", &o->validation,
            "The share of each class that validates, where DIR has no val/", "SHARE", false, true},
           {"--raw", &o->raw, "Decoded RGB, which costs space and saves decoding"},
           {"--resize", &o->resize, "With --raw: squash pictures to N x N", "N", false, false,
            Range{1, input::kLongestRawSide}},
           {"--first-label", &o->first_label,
            "1: as TensorFlow's scripts count, whose 0 is the background", "0|1", false, true,
            Range{0, 1}},
           {"--names", &o->names,
            "What class folders are called, a line each: n01440764 tench (ImageNet's metadata)",
            "FILE"},
           {"--boxes", &o->boxes, "Boxes as ImageNet's XML files: CLASS/PICTURE.xml or PICTURE.xml",
            "DIR"}},
      .run = [o](const Context& context) { return build(*o, context.console); },
      .notes =
          "JPEGs keep their bytes. PNGs and JPEGs of inks (CMYK) become JPEGs of quality\n"
          "100 in RGB, with some loss, unless with --raw. Files of other formats,\n"
          "subfolders of class folders and files beside those are left out, and counted."};
}

}  // namespace sterna::launcher
