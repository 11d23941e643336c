// OwnFolder: a new folder, in memory where the machine has such a place, that is this process's
// current one as long as it is there; it is removed with all that lies in it. So what a simulated
// run says of its files is the same each time.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace sterna::launcher {

class OwnFolder {
 public:
  /// One at a time in a process. Errors: io.
  static Result<OwnFolder> enter();
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();

 private:
  OwnFolder(std::string before, std::string path);
  std::string before_;  // where it goes back to
  std::string path_;    // empty: moved from
};

}  // namespace sterna::launcher
