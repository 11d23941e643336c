// Where a run finds its data: `--data DIR`, the cluster file, $STERNA_DATA, the user's cache; and
// where there is none, digits are drawn into the cache. Nothing here goes to the network.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "input/digits/digits.h"
#include "input/place/data_shard.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// The places to look in, in this order. Each may hold the files itself, or in `mnist/` or
/// `digits/` beneath.
struct DataQuery {
  std::optional<std::filesystem::path> flag = std::nullopt;  ///< `--data DIR`
  /// How whoever asks gives `flag` and `name`: errors call them so.
  std::string flag_word = "--data";
  std::string name_word = "data.name";
  std::optional<std::filesystem::path> file = std::nullopt;  ///< the cluster file's
  std::optional<std::filesystem::path> env = std::nullopt;   ///< $STERNA_DATA
  std::optional<std::filesystem::path> cache =
      std::nullopt;  ///< ~/.cache/sterna; digits are drawn here

  /// One of data_set_names(): other data sets are passed over; empty: the first that is found. One
  /// that lies nowhere is not looked for.
  std::string name = {};
  /// Which of a place's files are meant.
  DataOptions options = {};

  /// Where a place holds this shard beside others ("shard-0-of-4/"), that will do, too, and goes
  /// before a whole data set.
  std::optional<ShardId> shard = std::nullopt;
  /// Whatever shard a place holds will do where it holds no whole data set: for who needs no more
  /// than the test examples, which are in each.
  bool any_shard = false;

  bool draws = true;                               ///< else no data is an error: not_found
  DigitsOptions digits = {};                       ///< what to draw where there is no data
  std::function<void(std::string_view)> say = {};  ///< gets one line before digits are drawn
  DigitsProgress progress = {};                    ///< of the drawing
};

/// A value of the environment, or none; passed in so that a test has its own.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The user's cache: $XDG_CACHE_HOME/sterna (if absolute, as the XDG specification asks), else
/// $HOME/.cache/sterna, else none.
std::optional<std::filesystem::path> cache_directory(const Environment& environment);

/// $STERNA_DATA, unless it is unset or empty.
std::optional<std::filesystem::path> data_directory(const Environment& environment);

struct DataLocation {
  std::filesystem::path dir;             ///< what load_data takes; empty: it lies nowhere
  std::string name;                      ///< of data_set_names()
  bool drawn = false;                    ///< the digits were drawn just now
  std::filesystem::path shards_in = {};  ///< the folder of shards that `dir` is one of, or empty

  /// What to name to others, who may need another shard of it.
  const std::filesystem::path& folder() const { return shards_in.empty() ? dir : shards_in; }
};

/// The first place that has all files of a data set. A place that the user named (flag or file) and
/// that lacks them is an error that lists what was looked for; the others are passed over.
Result<DataLocation> find_data(const DataQuery& query);

}  // namespace sterna::input
