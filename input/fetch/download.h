// One HTTP request that brings the rest of a file: the only place that knows libcurl.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace sterna::input {

struct DownloadOptions {
  std::string url;             ///< http or https
  std::filesystem::path part;  ///< grows by what comes; made if missing
  std::uint64_t bytes = 0;     ///< the exact size of the whole file: never more is stored
  std::chrono::milliseconds connect_timeout{};
  std::chrono::seconds stall_timeout{};  ///< of less than 1 KiB/s
  std::function<void(std::uint64_t done)> progress = {};
};

/// What came of it, and so what to do next.
enum class DownloadEnd {
  complete,      ///< `part` has all bytes (their sum is for the caller to check)
  interrupted,   ///< the same server may go on where it stopped
  not_there,     ///< the server does not have the file, or there is no server
  wrong_answer,  ///< not this file: `part` was emptied
  local,         ///< our side failed (disk, permission): trying elsewhere is no help
};

struct DownloadResult {
  DownloadEnd end = DownloadEnd::local;
  std::string why;          ///< for a person; empty if complete
  bool from_start = false;  ///< all of `part` is of this request
  /// If complete: while it lives no other download writes to `part`.
  std::shared_ptr<const void> held = nullptr;
};

/// Blocks until the request ends or stalls.
DownloadResult download(const DownloadOptions& options);

}  // namespace sterna::input
