// Where the processes of a benchmark's cluster log: a temporary directory, kept if it fails.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace sterna::launcher {

class BenchLogs {
 public:
  static Result<BenchLogs> create();
  const std::string& path() const { return path_; }
  /// The benchmark has succeeded: nobody will read them.
  void discard() const;
  /// `error`, and where to read on.
  Error explain(const Error& error) const;

 private:
  explicit BenchLogs(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sterna::launcher
