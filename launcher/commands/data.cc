// sterna data make|fetch|split: data sets on this machine.
#include <fmt/format.h>

#include "input/digits/digits.h"
#include "input/fetch/fetch.h"
#include "input/place/data_shard.h"
#include "input/place/data_source.h"
#include "launcher/commands/commands.h"
#include "launcher/text/console.h"
#include "launcher/text/environment.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
int data_make_command(const DataMakeOptions& options) {
  const SteadyClock clock;
  Result<void> made;
  {
    ProgressLine line(clock);
    made = input::make_digits(options.out,
                              {.seed = options.seed,
                               .train = static_cast<std::size_t>(options.train),
                               .test = static_cast<std::size_t>(options.test)},
                              [&](std::size_t done, std::size_t total) {
                                line.show(fmt::format("drawing digits: {} of {}",
                                                      thousands(static_cast<std::int64_t>(done)),
                                                      thousands(static_cast<std::int64_t>(total))));
                              });
  }
  if (!made) return report(made.error());
  fmt::print(
      "{}: {} digits to train on and {} to test on; use them with sterna run FILE --data {}\n",
      options.out, thousands(options.train), thousands(options.test), options.out);
  return exit_done;
}

int data_fetch_command(const DataFetchOptions& options) {
  input::FetchOptions fetch;
  fetch.dir = options.dir;
  if (options.dir.empty()) {
    const auto cache = input::cache_directory(environment);
    if (!cache) {
      return report({Errc::invalid_argument,
                     "there is no $HOME to keep the data in; say where with --dir DIR"});
    }
    fetch.dir = *cache / "mnist";
  }
  if (!options.mirrors.empty()) fetch.mirrors = options.mirrors;
  const SteadyClock clock;
  Result<void> fetched;
  {
    ProgressLine line(clock);
    fetch.progress = [&](const std::string& name, std::uint64_t done, std::uint64_t total) {
      line.show(fmt::format("{}: {} of {}", printable(name), bytes_text(done), bytes_text(total)));
    };
    fetched = input::fetch_mnist(fetch);
  }
  if (!fetched) return report(fetched.error());
  fmt::print("{}: MNIST is complete, its sums are right\n", fetch.dir.string());
  return exit_done;
}

int data_split_command(const DataSplitOptions& options) {
  const auto shards = static_cast<std::uint32_t>(options.shards);
  const Result<void> split = input::split_data(options.from, shards, options.into);
  if (!split) return report(split.error());
  fmt::print(
      "{}: {} shards of {}; reader k reads shard-k-of-{} there, or in its host's `data` folder\n",
      options.into, shards, options.from, shards);
  return exit_done;
}

}  // namespace sterna::launcher
