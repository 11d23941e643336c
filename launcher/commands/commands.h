// The commands of `sterna`, one function each. The command line's options come as plain structs;
// `registry` is this program's; the return value is the exit code (launcher/text/console.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// sterna run FILE
struct RunOptions {
  std::string file;
  std::vector<std::string> overrides;  ///< "key=value", in order
  std::string data;                    ///< --data; empty: not given
  std::string run_dir;                 ///< --run-dir; empty: a name of our own
  bool json = false;
};
int run_command(const RunOptions& options, const Registry& registry);
/// sterna up FILE: the same, detached.
int up_command(const RunOptions& options, const Registry& registry);

/// sterna status|watch|down [RUN], sterna list
struct VisitOptions {
  std::string run;   ///< an id, a name, the beginning of either; empty: the only one
  std::string via;   ///< --via HOST: ask there, over ssh
  std::string file;  ///< down --file FILE: on every host of that file
  bool all = false;  ///< down --all
  bool json = false;
};
int status_command(const VisitOptions& options);
int watch_command(const VisitOptions& options);
int list_command(const VisitOptions& options);
int down_command(const VisitOptions& options);

/// sterna logs [RUN] [ACTOR]
struct LogsOptions {
  std::string run;
  std::string actor;  ///< empty: all
  std::string via;
  std::string since;  ///< a duration before now, "10m"; empty: from the beginning
  bool follow = false;
  bool json = false;
};
int logs_command(const LogsOptions& options);

/// sterna join FILE: becomes the node agent; returns only when it cannot.
struct JoinOptions {
  std::string file;  ///< RUN_DIR/join/HOST of a run whose placer is "join"
};
int join_command(const JoinOptions& options);

/// sterna check FILE
struct CheckOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;
};
int check_command(const CheckOptions& options);

/// sterna doctor FILE
struct DoctorOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool no_ship = false;    ///< only what a shell tells
  bool bandwidth = false;  ///< between the hosts, too
  bool json = false;
};
int doctor_command(const DoctorOptions& options, const Registry& registry);

/// sterna data make digits
struct DataMakeOptions {
  std::string out;
  std::uint64_t seed = 1;
  std::int64_t train = 60000;
  std::int64_t test = 10000;
};
int data_make_command(const DataMakeOptions& options);

/// sterna data fetch mnist
struct DataFetchOptions {
  std::string dir;                   ///< empty: ~/.cache/sterna
  std::vector<std::string> mirrors;  ///< empty: the public ones
};
int data_fetch_command(const DataFetchOptions& options);

/// sterna data split
struct DataSplitOptions {
  std::string from;
  std::int64_t shards = 0;
  std::string into;
};
int data_split_command(const DataSplitOptions& options);

/// sterna bench actors|codec|exchange|train
struct BenchOptions {
  std::string what;  ///< "actors", "codec", "exchange" or "train"
  bool json = false;
  std::string only;                ///< not of "train": the parts whose name begins so; empty: all
  std::string elements = "25.6M";  ///< of "codec" and "exchange"
  // The rest is of "exchange".
  std::string link;          ///< "1gbit" between emulated hosts; empty: all on this machine
  std::int64_t ranks = 2;    ///< ... one host for each
  std::int64_t servers = 0;  ///< 0: as many as ranks
  std::string security;      ///< "none" or "curve"; empty: what is worth comparing
  std::int64_t steps = 24;
  std::int64_t rounds = 3;
  std::string gloo;  ///< a script that measures gloo beside it; empty: none
};
int bench_command(const BenchOptions& options, const Registry& registry);

/// sterna test [ctest arguments]: becomes ctest; returns only when that fails.
struct TestOptions {
  std::vector<std::string> arguments;
};
int test_command(const TestOptions& options);

/// sterna help keys
struct HelpKeysOptions {
  bool markdown = false;
};
int help_keys_command(const HelpKeysOptions& options);

}  // namespace sterna::launcher
