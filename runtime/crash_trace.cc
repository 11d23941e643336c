#include "runtime/crash_trace.h"

#include <execinfo.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sterna {
namespace {

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kDeepest = 64;
constexpr int kOurs = 2;  // calls of a signal's handler itself, and of what calls it

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    default:
      return "SIGABRT";
  }
}

/// A line, put together without memory from the heap, which may be what is broken.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t room = text_.size() - size_;
    const std::size_t fits = text.size() < room ? text.size() : room;
    std::memcpy(text_.data() + size_, text.data(), fits);
    size_ += fits;
    return *this;
  }
  Line& number(std::uint64_t value, int base) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void write() const { (void)!::write(STDERR_FILENO, text_.data(), size_); }

 private:
  std::array<char, 200> text_{};
  std::size_t size_ = 0;
};

/// Where it has an address that is one: an address that no pointer can be has none.
bool has_address(int signal, const siginfo_t& what) {
  return signal != SIGABRT && what.si_code > 0 && what.si_code != SI_KERNEL;
}

void say_what(int signal, const siginfo_t& what) {
  std::array<char, 17> thread{};
  ::prctl(PR_GET_NAME, thread.data());
  Line line;
  line << "crashed: " << name_of(signal);
  if (has_address(signal, what)) {
    line << " at address 0x";
    line.number(reinterpret_cast<std::uintptr_t>(what.si_addr), 16);
  } else if (what.si_code <= 0) {
    line << " from process ";
    line.number(static_cast<std::uint64_t>(what.si_pid), 10);
  }
  line << " in thread \"" << thread.data() << "\"; the calls that it was in are above\n";
  line.write();
}

/// Whether some thread has crashed: a signal's handler has nothing else to know that by.
std::atomic<bool> has_crashed{false};

void crashed(int signal, siginfo_t* what, void* /*context*/) {
  // Others that crash meanwhile wait until the first one has said where it was.
  while (has_crashed.exchange(true)) ::pause();
  // Whoever asks is shown the last lines first: the innermost calls, and behind them what it was.
  std::array<void*, kDeepest> calls{};
  const int deep = ::backtrace(calls.data(), kDeepest);
  const int ours = deep > kOurs ? kOurs : 0;
  std::reverse(calls.begin() + ours, calls.begin() + deep);
  ::backtrace_symbols_fd(calls.data() + ours, deep - ours, STDERR_FILENO);
  say_what(signal, *what);
  // This one is delivered once the handler has returned.
  ::signal(signal, SIG_DFL);
  (void)::raise(signal);
}

}  // namespace

void trace_crashes() {
  std::array<void*, 1> first{};
  (void)::backtrace(first.data(), 1);  // loads what it needs, for which it is too late in a crash
  for (const int signal : kCrashes) {
    struct sigaction handles {};
    if (::sigaction(signal, nullptr, &handles) != 0) continue;
    if ((handles.sa_flags & SA_SIGINFO) != 0 || handles.sa_handler != SIG_DFL) continue;
    handles.sa_sigaction = crashed;
    handles.sa_flags = SA_SIGINFO;
    ::sigemptyset(&handles.sa_mask);
    ::sigaction(signal, &handles, nullptr);
  }
}

}  // namespace sterna
