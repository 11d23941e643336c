// Bundle: a program and its libraries in one folder that runs wherever it is copied to
// (cmake/SternaBundle.cmake makes it), and the hash by which a host knows that it has all of it.
//
//   FOLDER/bin/PROGRAM   FOLDER/lib/*.so.*   FOLDER/sterna-bundle (the mark)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna {

struct BundledFile {
  std::string path;  ///< relative to the folder
  bool executable = false;
  std::uint64_t size = 0;
};

struct Bundle {
  std::filesystem::path folder;
  std::string program;             ///< its file name; it lies in bin/
  std::vector<BundledFile> files;  ///< sorted by path, the mark included
  std::uint64_t bytes = 0;         ///< of all files
  /// BLAKE2b-128 over each file's path, mode, size and content, in hex: the same folder anywhere
  /// has the same.
  std::string hash;
};

/// Reads all of the folder. Fails if it has no mark (not_found), or holds anything but folders and
/// plain files (malformed).
Result<Bundle> read_bundle(const std::filesystem::path& folder);

/// The folder of the bundle of a program (of the running one: "/proc/self/exe"): the one that it
/// lies in, or else the one that was made beside it. Fails, and says how to make one, if there is
/// none or if it is of another build.
Result<std::filesystem::path> own_bundle(const std::filesystem::path& program);

}  // namespace sterna
