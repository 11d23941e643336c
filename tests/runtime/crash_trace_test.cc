#include "runtime/crash_trace.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace sterna {
namespace {

/// Whether somebody else, a sanitizer, has taken the signal.
bool is_taken(int signal) {
  struct sigaction handles {};
  sigaction(signal, nullptr, &handles);
  return (handles.sa_flags & SA_SIGINFO) != 0 || handles.sa_handler != SIG_DFL;
}

class CrashTrace : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (is_taken(GetParam())) GTEST_SKIP() << "a sanitizer has that signal";
  }
};
INSTANTIATE_TEST_SUITE_P(Each, CrashTrace, testing::Values(SIGSEGV, SIGBUS, SIGABRT),
                         [](const auto& of) {
                           return std::string("OfSignal") += std::to_string(of.param);
                         });

TEST_P(CrashTrace, SaysWhichThreadWasWhereAndEndsTheProcessByTheSignal) {
  const auto crash = [] {
    trace_crashes("worker0");
    std::thread thread([] {
      pthread_setname_np(pthread_self(), "compute/1");
      (void)raise(GetParam());
    });
    thread.join();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(GetParam()),
              "^(.*\\[0x[0-9a-f]+\\]\n)+crashed: SIG[A-Z]+ from process [0-9]+ in thread "
              "\"compute/1\" of worker0; .* above\n$");
}

TEST_P(CrashTrace, OfThreadsThatCrashAtOnceTheFirstSaysAllOfIt) {
  const auto crash = [] {
    trace_crashes("worker0");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] { (void)raise(GetParam()); });
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(GetParam()),
              "^(.*\\[0x[0-9a-f]+\\]\n)+crashed: SIG[A-Z]+ from .* above\n$");
}

// Nothing is mapped there, and no compiler takes it for null.
TEST(CrashTraceOfAccess, SaysWhichAddressAndLastWhoAskedForIt) {
  if (is_taken(SIGSEGV)) GTEST_SKIP() << "a sanitizer has that signal";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [] {
    trace_crashes("worker0");
    *reinterpret_cast<volatile int*>(0x1000) = 1;  // NOLINT(performance-no-int-to-ptr)
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV),
              "roof_test\\([^\n]*\ncrashed: SIGSEGV at address 0x1000 in");
}

// There whoever looks for the calls crashes as well, where they lead nowhere.
#if defined(__x86_64__)
TEST(CrashTraceOfAccess, SaysWhatItWasWhereTheCallsAreNotToBeFound) {
  if (is_taken(SIGSEGV)) GTEST_SKIP() << "a sanitizer has that signal";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [] {
    trace_crashes("worker0");
    reinterpret_cast<void (*)()>(0x1000)();  // NOLINT(performance-no-int-to-ptr)
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV),
              "crashed: SIGSEGV at address 0x1000 in .*not to be found\n$");
}

[[gnu::noinline]] void aborts_on_a_broken_stack() {
  void** frame = static_cast<void**>(__builtin_frame_address(0));
  frame[1] = reinterpret_cast<void*>(0x1000);  // NOLINT(performance-no-int-to-ptr)
  std::abort();
}

TEST(CrashTraceOfAccess, EndsByTheFirstSignalWhereTheStackIsBroken) {
  if (is_taken(SIGSEGV) || is_taken(SIGABRT)) GTEST_SKIP() << "a sanitizer has that signal";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [] {
    trace_crashes("worker0");
    std::thread thread(aborts_on_a_broken_stack);
    thread.join();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT),
              "crashed: SIGABRT .*the calls that it was in are not to be found\n$");
}
#endif

}  // namespace
}  // namespace sterna
