// Downloads MNIST's files, and believes none of them before its SHA-256 is right.
//
// A file grows under `name.part` and gets its name only when its sum is checked, so what stands
// under a final name is always whole. An interrupted download goes on where it stopped (a Range
// request), at the next attempt, the next mirror or the next call.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

struct RemoteFile {
  std::string name;         ///< appended to the mirror's URL
  std::uint64_t bytes = 0;  ///< its exact size: no server can make us store more
  std::string sha256;       ///< lower-case hexadecimal
};

/// The four .gz files of MNIST as LeCun, Cortes and Burges published them.
std::vector<RemoteFile> mnist_files();

/// Public copies of them, tried in this order.
std::vector<std::string> mnist_mirrors();

struct FetchOptions {
  std::filesystem::path dir;                           ///< made if missing
  std::vector<std::string> mirrors = mnist_mirrors();  ///< URLs of folders, http(s)
  std::vector<RemoteFile> files = mnist_files();
  std::chrono::milliseconds connect_timeout{10'000};
  /// Give an attempt up when it gets less than 1 KiB/s for this long.
  std::chrono::seconds stall_timeout{20};
  int attempts = 3;  ///< per file and mirror, each going on where the last one stopped
  /// Called while bytes come, and once for each file when it is complete.
  std::function<void(const std::string& name, std::uint64_t done, std::uint64_t total)> progress =
      {};
};

/// Downloads what `dir` does not hold already. A mirror that is missing a file, cannot be reached
/// or stalls is followed by the next; if none has it, the error names the file and what each mirror
/// said (`unavailable`). A complete file of a wrong sum is deleted and ends the call at once
/// (`malformed`, with file and mirror). Blocks.
Result<void> fetch_files(const FetchOptions& options);

/// fetch_files for MNIST into `options.dir`, which must not hold drawn digits (`already_exists`).
Result<void> fetch_mnist(const FetchOptions& options);

}  // namespace sterna::input
