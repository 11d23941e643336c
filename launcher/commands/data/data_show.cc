// sterna data show: what a data set holds, and what a net sees of it.
#include "launcher/commands/data/data_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "actors/reader/data_folder.h"
#include "actors/reader/preparation.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "input/formats/format.h"
#include "input/formats/passed_over.h"
#include "input/formats/picture_source.h"
#include "input/formats/tfrecord_folder.h"
#include "input/pictures/encode.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "input/place/data_source.h"
#include "launcher/data/contact_sheet.h"
#include "launcher/data/survey.h"
#include "launcher/job/job_plan.h"
#include "launcher/record/output_file.h"
#include "launcher/text/environment.h"
#include "launcher/text/json_line.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

using input::Split;

// Pictures of this side make a sheet of 200 MB.
constexpr std::int64_t kLongestShown = 1024;

struct DataShowOptions {
  std::string folder;
  std::string name;
  std::string split;  ///< "train" or "test"; empty: both, and the sheet is of "train"
  std::string preprocess = actors::kAutoPreprocess;
  std::int64_t size = 0;
  std::uint64_t seed = 1;
  std::uint64_t step = 0;
  std::string png;
  bool check = false;
  bool json = false;
};

const char* name_of(Split split) { return split == Split::train ? "train" : "test"; }

Result<input::DataLocation> find(const DataShowOptions& options, const Console& console) {
  input::DataQuery query;
  if (!options.folder.empty()) query.flag = options.folder;
  query.flag_word = "the folder";
  query.name_word = "--data";
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  query.name = options.name;
  query.any_shard = true;
  query.say = [&](std::string_view line) { console.say(line); };
  return input::find_data(query);
}

/// As a cluster file would ask for the same.
actors::DataSection data_section(const DataShowOptions& options) {
  actors::DataSection data;
  if (!options.name.empty()) data.name = options.name;
  data.preprocess = options.preprocess;
  data.size = static_cast<std::uint32_t>(options.size);
  return data;
}

/// As the actors of a job prepare its pictures.
Result<input::Preparation> preparation(const DataShowOptions& options,
                                       const input::DataLocation& location,
                                       const input::SourceFacts& facts) {
  ClusterFile file;
  file.data = data_section(options);
  file.job.seed = options.seed;
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, location));
  return actors::preparation_of(job, facts, facts.count);
}

/// Of the training set the rows of the one rank's batch, of the test set as many in their order,
/// without those that are damaged. How many they are.
Result<std::size_t> prepare_sheet(const input::Source& source, Split split,
                                  const DataShowOptions& options, const input::Preparation& how,
                                  const input::PreparedRows& into) {
  const auto batch = static_cast<std::uint32_t>(into.labels.size());
  const std::uint64_t count = source.facts().count;
  if (split == Split::train) {
    const auto rows = input::batch_rows({how.seed, options.step, 0, 1, batch}, count);
    STERNA_TRY(input::prepare_training(source, 0, rows, how, into));
    return rows.size();
  }
  std::vector<std::uint64_t> examples(batch);
  for (std::uint64_t i = 0; i < batch; ++i) {
    examples[i] = (options.step % count * batch + i) % count;
  }
  return input::prepare_evaluation(source, examples, how, into);
}

Result<void> write_sheet(const input::Source& source, Split split, const DataShowOptions& options,
                         const input::Preparation& how, const std::string& file) {
  input::PreparedBatch batch(how, kSheetSide * kSheetSide);
  STERNA_ASSIGN(const std::size_t rows, prepare_sheet(source, split, options, how, batch.rows()));
  const input::Picture sheet = contact_sheet(batch.rows(rows), how.options.shape);
  STERNA_ASSIGN(const std::vector<std::uint8_t> png, input::encode_png(sheet));
  const std::array parts{std::as_bytes(std::span(png))};
  return write_atomically(file, parts);
}

/// What is shown.
struct Shown {
  input::DataLocation location;
  std::string_view stored_as;
  input::Preparation how;
  std::optional<input::ClassLabels> names;  ///< of classes, where anything names them
  std::map<Split, Survey> splits;
  std::optional<input::PassedOver> passed;  ///< of folders of pictures
  std::vector<std::string> hints;           ///< of the classes' names
};

/// What class `label` is called; empty: nothing names it.
std::string name_of(const std::optional<input::ClassLabels>& names, std::size_t label) {
  if (!names || label < names->first) return {};
  const std::size_t index = label - names->first;
  return index < names->names.size() ? printable(names->names[index]) : std::string();
}

Result<Survey> look(const input::Source& source, Split split, const DataShowOptions& options) {
  const SteadyClock clock;
  ProgressLine line(clock);
  return survey(source, {.decode = options.check, .progress = [&](auto done, auto total) {
                           if (done % 256 != 0) return;
                           line.show(fmt::format("reading {} examples: {} of {}", name_of(split),
                                                 thousands(static_cast<std::int64_t>(done)),
                                                 thousands(static_cast<std::int64_t>(total))));
                         }});
}

/// What folders of pictures, and a labels.txt, do that their owner may not know.
Result<void> look_around(const input::Format& format, const input::DataOptions& how, Shown& shown) {
  const std::filesystem::path& dir = shown.location.dir;
  STERNA_ASSIGN(shown.hints, input::class_hints(dir, how));
  if (&format == &input::kPictureFolder) {
    STERNA_ASSIGN(shown.passed, input::passed_over(dir));
    return {};
  }
  const auto train = shown.splits.find(Split::train);
  if (&format != &input::kTfRecord || train == shown.splits.end()) return {};
  std::string lacking = input::without_examples(train->second.per_class, shown.names);
  if (!lacking.empty()) shown.hints.push_back(std::move(lacking));
  return {};
}

Result<Shown> look(const DataShowOptions& options, const Console& console) {
  STERNA_ASSIGN(const std::string png, output_file(options.png, ".png", "--png"));
  Shown shown;
  STERNA_ASSIGN(shown.location, find(options, console));
  const input::DataOptions how = actors::data_options(data_section(options), options.seed);
  const input::Format& format = input::format_of(shown.location.dir, how);
  shown.stored_as = format.name;
  if (!shown.location.dir.empty()) {
    STERNA_ASSIGN(shown.names, input::class_names(shown.location.dir, how));
  }
  const Split sheet_of = options.split == "test" ? Split::test : Split::train;
  for (const Split split : {Split::train, Split::test}) {
    if (!options.split.empty() && options.split != name_of(split)) continue;
    STERNA_ASSIGN(const auto opened, input::open_data(shown.location.dir, split, how));
    const input::Source& source = *opened;
    if (source.facts().count == 0) {
      return Error{Errc::malformed, fmt::format("{}: its {} split holds no example",
                                                shown.location.dir.string(), name_of(split))};
    }
    STERNA_ASSIGN(shown.how, preparation(options, shown.location, source.facts()));
    STERNA_ASSIGN(shown.splits[split], look(source, split, options));
    if (png.empty() || split != sheet_of) continue;
    STERNA_TRY(write_sheet(source, split, options, shown.how, png));
  }
  STERNA_TRY(look_around(format, how, shown));
  return shown;
}

std::string text_of(const Extent& extent) {
  return extent.least == extent.most ? fmt::to_string(extent.least)
                                     : fmt::format("{} to {}", extent.least, extent.most);
}

std::string text_of(const input::PictureShape& shape) {
  return fmt::format("{} x {} x {}", shape.rows, shape.columns, shape.channels);
}

std::string lines(const std::vector<std::string>& table) {
  return fmt::format("{}\n", fmt::join(table, "\n"));
}

std::string text_of(const Shown& shown) {
  std::string text =
      fmt::format("{}: {}, stored as {}; {} makes {} of a picture\n\n",
                  shown.location.dir.empty() ? "no folder" : shown.location.dir.string(),
                  input::told_name(shown.location.dir, shown.location.name), shown.stored_as,
                  shown.how.family->name, text_of(shown.how.options.shape));
  std::vector<std::vector<std::string>> splits;
  std::vector<TableColumn> columns{{"CLASS", true}};
  if (shown.names) columns.push_back({"NAME"});
  std::vector<std::vector<std::string>> classes;
  std::string damages;
  for (const auto& [split, found] : shown.splits) {
    const auto number = [](std::uint64_t n) { return thousands(static_cast<std::int64_t>(n)); };
    splits.push_back({name_of(split), number(found.examples),
                      fmt::format("{} x {} x {}", text_of(found.rows), text_of(found.columns),
                                  text_of(found.channels)),
                      number(found.damaged)});
    columns.push_back({split == Split::train ? "TRAIN" : "TEST", true});
    classes.resize(std::max(classes.size(), found.per_class.size()));
    for (std::size_t c = 0; c < found.per_class.size(); ++c) {
      if (classes[c].empty()) {
        classes[c] = {fmt::to_string(c)};
        if (shown.names) classes[c].push_back(name_of(shown.names, c));
      }
      classes[c].push_back(number(found.per_class[c]));
    }
    for (const std::string& damage : found.damages) {
      damages += fmt::format("{} {}\n", name_of(split), printable(damage));
    }
    if (found.damaged > found.damages.size()) {
      damages += fmt::format("... and {} more\n", number(found.damaged - found.damages.size()));
    }
  }
  for (auto& row : classes) row.resize(columns.size());
  text +=
      lines(text_table({{"SPLIT"}, {"EXAMPLES", true}, {"PICTURES"}, {"DAMAGED", true}}, splits));
  const std::string others = shown.passed ? to_text(*shown.passed) : "";
  if (!others.empty()) damages += fmt::format("left out: {}\n", printable(others));
  for (const std::string& hint : shown.hints) damages += printable(hint) + "\n";
  return text + damages + "\n" + lines(text_table(columns, classes));
}

Json json_of(const Extent& extent) { return {extent.least, extent.most}; }

Json json_of(const Shown& shown) {
  const input::PictureShape& shape = shown.how.options.shape;
  Json json = {{"format", 1},
               {"name", input::told_name(shown.location.dir, shown.location.name)},
               {"folder", shown.location.dir.string()},
               {"stored_as", shown.stored_as},
               {"preprocess", shown.how.family->name},
               {"seen_by_the_net", {shape.rows, shape.columns, shape.channels}}};
  if (shown.names) {
    json["names"] = shown.names->names;
    json["first_named"] = shown.names->first;
  }
  if (shown.passed) {
    json["left_out"] = {{"files", shown.passed->files},
                        {"endings", shown.passed->endings},
                        {"subfolders", shown.passed->subfolders},
                        {"loose", shown.passed->loose}};
  }
  if (!shown.hints.empty()) json["hints"] = shown.hints;
  for (const auto& [split, found] : shown.splits) {
    json["splits"][name_of(split)] = {
        {"examples", found.examples},        {"rows", json_of(found.rows)},
        {"columns", json_of(found.columns)}, {"channels", json_of(found.channels)},
        {"per_class", found.per_class},      {"damaged", found.damaged},
        {"damages", found.damages}};
  }
  return json;
}

int show(const DataShowOptions& options, const Console& console) {
  const Result<Shown> shown = look(options, console);
  if (!shown) return console.report(shown.error());
  if (options.json) return console.result(json_line(json_of(*shown)) + "\n");
  std::string text = text_of(*shown);
  if (!options.png.empty()) {
    text += fmt::format("\n{}: {} pictures of {}, step {}\n", options.png, kSheetSide * kSheetSide,
                        options.split.empty() ? "train" : options.split, options.step);
  }
  return console.result(text);
}

std::vector<std::string> names(const std::vector<std::string_view>& of) {
  return {of.begin(), of.end()};
}

/// Here --data takes a data set's name, where other commands take a folder.
Result<void> check_name(const std::string& name) {
  if (name.empty() || input::find_data_set(name) != nullptr) return {};
  std::error_code ignored;
  const std::string known = fmt::format("{}", fmt::join(input::data_set_names(), ", "));
  if (name.find('/') == std::string::npos && !std::filesystem::exists(name, ignored)) {
    return Error{
        Errc::invalid_argument,
        fmt::format("--data: there is no data set {}; take one of {}", printable(name), known)};
  }
  return Error{Errc::invalid_argument,
               fmt::format("--data takes a data set's name ({}); a folder goes without it: sterna "
                           "data show {}",
                           known, printable(name))};
}

}  // namespace

Command data_show_command() {
  const auto o = std::make_shared<DataShowOptions>();
  std::vector<std::string> families = names(input::family_names());
  families.insert(families.begin(), actors::kAutoPreprocess);
  return {.name = "show",
          .help = "Say what a data set holds, and draw what a net sees of it",
          .arguments =
              {{"folder", &o->folder, "Where to look; default: $STERNA_DATA, then ~/.cache/sterna",
                "DIR"},
               {.name = "--data",
                .into = &o->name,
                .help = fmt::format("This one; default: the first that is found ({})",
                                    fmt::join(input::data_set_names(), ", ")),
                .type = "NAME"},
               {.name = "--split",
                .into = &o->split,
                .help = "Only this one",
                .type = "train|test",
                .choices = {"train", "test"}},
               {.name = "--preprocess",
                .into = &o->preprocess,
                .help = "How pictures are prepared; auto: as suits the data set",
                .type = "FAMILY",
                .choices = std::move(families)},
               {"--size", &o->size, "Rows and columns that the net sees; 0: as the family has it",
                "N", false, false, std::pair<std::int64_t, std::int64_t>{0, kLongestShown}},
               {.name = "--seed", .into = &o->seed, .help = "Of the job", .shows_default = true},
               {.name = "--step",
                .into = &o->step,
                .help = "Whose batch is drawn",
                .shows_default = true},
               {"--png", &o->png, "Draw the step's batch of 64 into this PNG, as the net sees it",
                "FILE"},
               {"--check", &o->check, "Decode every picture, and not its header alone"},
               {"--json", &o->json, "Print one line of JSON"}},
          .run = [o](const Context& context) {
            const Result<void> known = check_name(o->name);
            return known ? show(*o, context.console) : context.console.report(known.error());
          }};
}

}  // namespace sterna::launcher
