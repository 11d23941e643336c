// Downloads data sets that others published, and believes no file before its SHA-256 is right.
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

/// A data set as it is published. Sizes and sums are those that TensorFlow Datasets has published
/// for it (url_checksums/), MNIST's also torchvision's.
struct RemoteSet {
  std::string name;   ///< "cifar10"
  std::string title;  ///< "CIFAR-10"
  std::vector<RemoteFile> files;
  std::vector<std::string> mirrors;  ///< URLs of folders, tried in this order
  /// The files are archives (tar, gzip): what they hold is unpacked (unpack.h), and they are
  /// removed.
  bool packed = false;
  std::string next = {};  ///< what to do with it, where no run finds it by itself
};

/// Every set that can be fetched: mnist, fashion-mnist, cifar10, cifar100 and flowers.
std::vector<RemoteSet> remote_sets();

struct FetchOptions {
  std::filesystem::path dir;              ///< made if missing
  std::vector<std::string> mirrors = {};  ///< http(s); empty: the set's own
  std::chrono::milliseconds connect_timeout{10'000};
  /// Give an attempt up when it gets less than 1 KiB/s for this long.
  std::chrono::seconds stall_timeout{20};
  int attempts = 3;  ///< per file and mirror, each going on where the last one stopped
  /// Called while bytes come, and once for each file when it is complete.
  std::function<void(const std::string& name, std::uint64_t done, std::uint64_t total)> progress =
      {};
};

/// Downloads what `dir` does not hold already, which must not be drawn digits (`already_exists`). A
/// mirror that is missing a file, cannot be reached or stalls is followed by the next; if none has
/// it, the error names the file and what each mirror said (`unavailable`). A complete file of a
/// wrong sum is deleted and ends the call at once (`malformed`, with file and mirror). Blocks.
Result<void> fetch_set(const RemoteSet& set, const FetchOptions& options);

}  // namespace sterna::input
