// Lifeline: the standard input of a process that a launcher started on this host from another one.
//
// As long as it is open the launcher is there. Its end means that the launcher, its ssh or the way
// between them is gone; the byte kDetach before means that the run goes on without.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/loop/uv_loop.h"

namespace sterna {

class Lifeline {
 public:
  static constexpr char kDetach = 'D';
  /// What the process answers on its standard output, once it is on its own.
  static constexpr std::string_view kDetached = "STERNA detached\n";

  /// From here on the process's own words go to `log_file` (empty: nowhere changes) rather than to
  /// the launcher. `lost` is called once, on the loop thread. `loop` must outlive it.
  Lifeline(UvLoop& loop, const std::string& log_file,
           std::function<void(const std::string& why)> lost);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

 private:
  struct Pipe;
  Pipe* pipe_;  ///< freed when libuv has closed it
};

}  // namespace sterna
