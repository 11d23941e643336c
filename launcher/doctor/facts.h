// What a host says of itself to a POSIX shell before anything of ours is there: the script that
// asks, and its answer as plain data. What is good or bad about it is launcher/doctor/checks.h's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sterna::launcher {

/// What to ask one host for.
struct FactsQuestion {
  std::string work;                                      ///< host.work; "~/" is the home there
  std::string bundle_hash;                               ///< empty: nothing is to be shipped
  std::string program;                                   ///< its file in the bundle's bin/
  std::vector<std::string> names;                        ///< to be resolved there
  bool gpus = false;                                     ///< count them
  bool cuda = false;                                     ///< which driver and what cards it has
  std::vector<std::vector<std::string>> libraries = {};  ///< NVIDIA's to look for, their parts each
  std::vector<std::string> environment = {};  ///< "NAME=VALUE": what its processes will have
  bool peers = false;                         ///< whether its cards read each other's memory
  bool mps = false;                    ///< whether its cards serve several processes side by side
  bool bf16 = false;                   ///< whether its processor computes with it
  std::vector<std::string> cpu_flags;  ///< which of these its processor does not have
  std::string data = {};    ///< whose files to look for; "any": a data set's; empty: none
  std::string data_folder;  ///< empty: $STERNA_DATA, then the user's cache
  /// Folders of shards that will do instead of the whole set, if all are there.
  std::vector<std::string> shards = {};
  std::string init = {};   ///< weights to look for, a file or TensorFlow's prefix; empty: none
  bool any_shard = false;  ///< whichever shard is there will do: only test examples are read
};

/// A socket that listens; the address in the kernel's own spelling of it.
struct Listening {
  std::string address;  ///< numeric; "0.0.0.0" and "::": all
  std::uint16_t port = 0;
  bool operator==(const Listening&) const = default;
};

struct HostFacts {
  std::string noise;  ///< what the login shell printed first, its first line
  bool complete = false;
  std::optional<double> clock;     ///< seconds since 1970
  bool clock_has_fraction = true;  ///< else it is that second's beginning
  std::string arch;
  std::string libc;  ///< "glibc 2.36", or what the loader calls itself
  std::optional<std::uint64_t> memory_free;
  std::optional<std::uint64_t> disk_free;  ///< of the work folder
  bool work_writable = false;
  std::string work_error;
  bool has_bundle = false;
  std::optional<std::int64_t> gpus;
  std::optional<std::string> driver;  ///< release of NVIDIA's: "580.65.06"; empty: there is none
  std::string capability;             ///< of its oldest card: "8.0"; empty: nobody says
  /// Of the libraries asked for those that are nowhere, by their last part: and a folder that has
  /// some of it, with what it lacks, or nothing.
  std::map<std::string, std::string> missing_libraries;
  /// Of a card, by index: how it reads of each, "OK" or why not; "X" is itself.
  std::map<std::size_t, std::vector<std::string>> peers;
  std::optional<bool> mps;                     ///< it runs
  std::vector<std::string> missing_cpu_flags;  ///< of those asked for
  std::optional<bool> bf16;  ///< its processor has AVX512-BF16, which one with AMX has, too
  /// It is Intel's and has no AMX: its AVX512-BF16 takes 1.5 times as long as fp32 (README.md).
  bool slow_bf16 = false;
  std::vector<std::string> addresses;                     ///< its own, numeric
  std::map<std::string, std::vector<std::string>> names;  ///< resolved; empty: nobody knows it
  std::vector<Listening> listening;
  bool kills_processes = false;  ///< systemd ends a user's processes when he logs out
  std::optional<bool> lingers;   ///< ... but not this user's
  std::string data_found;        ///< the folder with all files
  bool data_is_drawn = false;    ///< by `sterna data make digits`
  std::string data_shard;        ///< the folder is this shard's: "shard-0-of-4"; empty: no shard's
  std::string data_missing;      ///< what the likeliest folder lacks
  bool init_missing = false;     ///< the weights asked for are not there
};

/// The script (see launcher/hosts/host_shell.h). It waits for a line before it reads the clock.
std::string facts_script(const FactsQuestion& question);
HostFacts parse_host_facts(std::string_view output);

/// "0100007F:1F90" of /proc/net/tcp, or 32 digits of tcp6: bytes in the host's order, by fours.
std::optional<Listening> parse_socket(std::string_view text);
/// "fe800000000000000000000000000001", as /proc/net/if_inet6 writes it.
std::optional<std::string> parse_inet6(std::string_view text);
/// "1700000000.123456789"; without a fraction where `date` knows no %N.
std::optional<double> parse_clock(std::string_view text, bool& has_fraction);

}  // namespace sterna::launcher
