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
constexpr int kOurs = 2;       // calls of a signal's handler itself, and of what calls it
constexpr int kPatience = 10;  // seconds

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
  Line& operator<<(char one) { return *this << std::string_view(&one, 1); }
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

/// Who says so; as First, and set before any signal is handled.
std::array<char, 65> crashing_process{};

/// Where it has an address that is one: an address that no pointer can be has none.
bool has_address(int signal, const siginfo_t& what) {
  return signal != SIGABRT && what.si_code > 0 && what.si_code != SI_KERNEL;
}

void say_what(int signal, const siginfo_t& what, std::string_view where) {
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
  line << " in thread \"" << thread.data() << "\" of " << crashing_process.data()
       << "; the calls that it was in are " << where << '\n';
  line.write();
}

/// This one is delivered even where it is being handled.
void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  (void)::raise(signal);
}

/// The crash that is told of, the first one. A signal's handler has nothing else to know it by.
struct First {
  std::atomic<pid_t> thread{0};
  int signal = 0;
  siginfo_t what{};
};
First first_crash;

void crashed(int signal, siginfo_t* what, void* /*context*/) {
  const pid_t self = ::gettid();
  pid_t first = 0;
  if (!first_crash.thread.compare_exchange_strong(first, self)) {
    // Others that crash meanwhile wait until it has said where it was: but not for ever, as it may
    // need a lock that they have.
    for (int i = 0; first != self && i < kPatience; ++i) ::sleep(1);
    // To look for its calls has crashed: a pointer that leads nowhere was called, or the stack is
    // overwritten.
    if (first == self) say_what(first_crash.signal, first_crash.what, "not to be found");
    end_by(first_crash.signal);
  }
  first_crash.signal = signal;
  first_crash.what = *what;
  // Whoever asks is shown the last lines first: the innermost calls, and behind them what it was.
  std::array<void*, kDeepest> calls{};
  const int deep = ::backtrace(calls.data(), kDeepest);
  const int ours = deep > kOurs ? kOurs : 0;
  std::reverse(calls.begin() + ours, calls.begin() + deep);
  ::backtrace_symbols_fd(calls.data() + ours, deep - ours, STDERR_FILENO);
  say_what(signal, *what, "above");
  end_by(signal);
}

}  // namespace

void trace_crashes(std::string_view process) {
  process.copy(crashing_process.data(), crashing_process.size() - 1);
  std::array<void*, 1> first{};
  (void)::backtrace(first.data(), 1);  // loads what it needs, for which it is too late in a crash
  for (const int signal : kCrashes) {
    struct sigaction handles {};
    if (::sigaction(signal, nullptr, &handles) != 0) continue;
    if ((handles.sa_flags & SA_SIGINFO) != 0 || handles.sa_handler != SIG_DFL) continue;
    handles.sa_sigaction = crashed;
    handles.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigemptyset(&handles.sa_mask);
    ::sigaction(signal, &handles, nullptr);
  }
}

}  // namespace sterna
