// sterna data make|fetch|split|build|convert|show: data sets on this machine.
#include <fmt/format.h>

#include <memory>

#include "actors/reader/data_folder.h"
#include "input/digits/digits.h"
#include "input/fetch/fetch.h"
#include "input/place/data_shard.h"
#include "input/place/data_source.h"
#include "launcher/commands/command.h"
#include "launcher/commands/data/data_parts.h"
#include "launcher/text/environment.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

struct DataOptions {
  std::string folder;  ///< read by split, else written; of fetch empty: ~/.cache/sterna
  std::uint64_t seed = 1;
  std::int64_t train = 60000;
  std::int64_t test = 10000;
  std::vector<std::string> mirrors;  ///< empty: the public ones
  std::int64_t shards = 0;
  std::string into;
};

int make_digits(const DataOptions& options, const Console& console) {
  const SteadyClock clock;
  Result<void> made;
  {
    ProgressLine line(clock);
    made = input::make_digits(options.folder,
                              {.seed = options.seed,
                               .train = static_cast<std::size_t>(options.train),
                               .test = static_cast<std::size_t>(options.test)},
                              [&](std::size_t done, std::size_t total) {
                                line.show(fmt::format("drawing digits: {} of {}",
                                                      thousands(static_cast<std::int64_t>(done)),
                                                      thousands(static_cast<std::int64_t>(total))));
                              });
  }
  if (!made) return console.report(made.error());
  return console.result(fmt::format(
      "{0}: {1} digits to train on and {2} to test on; use them with sterna run FILE --data {0}\n",
      options.folder, thousands(options.train), thousands(options.test)));
}

int fetch(const input::RemoteSet& set, const DataOptions& options, const Console& console) {
  input::FetchOptions fetch;
  fetch.dir = options.folder;
  if (options.folder.empty()) {
    const auto cache = input::cache_directory(environment);
    if (!cache) {
      return console.report({Errc::invalid_argument,
                             "there is no $HOME to keep the data in; say where with --dir DIR"});
    }
    fetch.dir = *cache / set.name;
  }
  fetch.mirrors = options.mirrors;
  const SteadyClock clock;
  Result<void> fetched;
  {
    ProgressLine line(clock);
    fetch.progress = [&](const std::string& name, std::uint64_t done, std::uint64_t total) {
      line.show(fmt::format("{}: {} of {}", printable(name), bytes_text(done), bytes_text(total)));
    };
    fetched = input::fetch_set(set, fetch);
  }
  if (!fetched) return console.report(fetched.error());
  return console.result(fmt::format("{}: {} is complete, its sums are right{}{}\n",
                                    fetch.dir.string(), set.title, set.next.empty() ? "" : "; ",
                                    set.next));
}

/// `sterna data fetch NAME` for each set that can be.
std::vector<Command> fetch_commands(const std::shared_ptr<DataOptions>& options) {
  std::vector<Command> commands;
  for (const input::RemoteSet& set : input::remote_sets()) {
    std::uint64_t bytes = 0;
    for (const input::RemoteFile& file : set.files) bytes += file.bytes;
    Command command;
    command.name = set.name;
    command.help = fmt::format("{}, {}, its sums checked{}", set.title, bytes_text(bytes),
                               set.packed ? ", unpacked" : "");
    command.arguments = {
        {"--dir", &options->folder, "Where to put it; default ~/.cache/sterna/" + set.name, "DIR"},
        {"--mirror", &options->mirrors, "Where to get it; several are tried in order", "URL"}};
    command.run = [options, set](const Context& context) {
      return fetch(set, *options, context.console);
    };
    commands.push_back(std::move(command));
  }
  return commands;
}

int split(const DataOptions& options, const Console& console) {
  const auto shards = static_cast<std::uint32_t>(options.shards);
  const Result<void> split =
      input::split_data(options.folder, shards, options.into, actors::data_options({}, 0).cache);
  if (!split) return console.report(split.error());
  return console.result(fmt::format(
      "{0}: {1} shards of {2}; reader k reads shard-k-of-{1} there, or in its host's `data` "
      "folder\n",
      options.into, shards, options.folder));
}

}  // namespace

Command data_command() {
  const auto o = std::make_shared<DataOptions>();
  constexpr std::pair<std::int64_t, std::int64_t> kExamples = {1, 10'000'000};
  const auto called = [o](int (*function)(const DataOptions&, const Console&)) {
    return [o, function](const Context& context) { return function(*o, context.console); };
  };
  const Command digits = {
      "digits",
      "Draw handwritten-looking digits, in MNIST's format",
      {{.name = "--out",
        .into = &o->folder,
        .help = "The folder to write",
        .type = "DIR",
        .required = true},
       {.name = "--seed",
        .into = &o->seed,
        .help = "Same seed, same digits",
        .shows_default = true},
       {"--train", &o->train, "Examples to train on", "N", false, true, kExamples},
       {"--test", &o->test, "Examples to test on", "N", false, true, kExamples}},
      called(make_digits)};
  const Command split_command = {
      "split",
      "Cut a data set into shards, one for each input reader",
      {{"folder", &o->folder, "The folder of the whole data set", "FOLDER", true},
       {"--shards", &o->shards, "How many: the input readers' count", "N", true, false,
        std::pair<std::int64_t, std::int64_t>{1, input::kMostShards}},
       {"--into", &o->into, "Where shard-0-of-N, ... are written", "DIR", true}},
      called(split)};
  return {.name = "data",
          .help = "Make, fetch, split, build, convert or show a data set",
          .parts = {{.name = "make", .help = "Make a data set on this machine", .parts = {digits}},
                    {.name = "fetch", .help = "Download a data set", .parts = fetch_commands(o)},
                    split_command,
                    data_build_command(),
                    data_convert_command(),
                    data_show_command()}};
}

}  // namespace sterna::launcher
