// What a step asks the system for, counted where it is asked: in this program's malloc. Tensors are
// made with the net; what remains is what the library takes within its primitives, packed matrices
// and lists of arguments, and gives back.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "nets/make_backend.h"
#include "nets/net.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

namespace sterna::nets {
namespace {

struct Counters {
  std::atomic<std::int64_t> taken = 0;
  std::atomic<std::int64_t> bytes = 0;
  std::atomic<std::int64_t> largest = 0;
  std::atomic<std::int64_t> given_back = 0;
  std::atomic<std::int64_t> tensors = 0;  ///< aligned, by operator new, as Buffer asks for memory

  void take(std::size_t size) {
    const auto more = static_cast<std::int64_t>(size);
    taken += 1;
    bytes += more;
    if (more > largest) largest = more;
  }
  void give_back(const void* memory) { given_back += memory != nullptr ? 1 : 0; }
};
constinit Counters counters;

}  // namespace
}  // namespace sterna::nets

// The C library's and all other libraries' calls come here, too: the program's symbols come first.
extern "C" {
void* malloc(std::size_t size) {
  sterna::nets::counters.take(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  sterna::nets::counters.take(count * size);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  sterna::nets::counters.take(size);
  sterna::nets::counters.give_back(memory);
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  sterna::nets::counters.take(size);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
  sterna::nets::counters.give_back(memory);
  __libc_free(memory);
}
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  sterna::nets::counters.tensors += 1;
  if (void* memory = memalign(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { free(memory); }

namespace sterna::nets {
namespace {

struct Ignored final : GradientSink {
  void gradient(std::size_t /*index*/, const Gradient& /*gradient*/) override {}
};

struct Asked {
  std::int64_t times = 0;
  std::int64_t bytes = 0;
  std::int64_t largest = 0;
  std::int64_t kept = 0;  ///< pieces that were not given back
  std::int64_t tensors = 0;
  bool operator==(const Asked&) const = default;
};

void PrintTo(const Asked& asked, std::ostream* out) {
  *out << asked.times << " times, " << asked.bytes << " bytes, the largest " << asked.largest
       << ", " << asked.kept << " kept, " << asked.tensors << " of them tensors";
}

template <class Work>
Asked asked_by(const Work& work) {
  counters.largest = 0;
  const std::int64_t taken = counters.taken;
  const std::int64_t bytes = counters.bytes;
  const std::int64_t given_back = counters.given_back;
  const std::int64_t tensors = counters.tensors;
  work();
  const std::int64_t times = counters.taken - taken;
  return {times, counters.bytes - bytes, counters.largest,
          times - (counters.given_back - given_back), counters.tensors - tensors};
}

struct Case {
  const char* net;
  Element precision = Element::fp32;
  std::size_t micro_batch = 0;
};

class StepMemory : public testing::TestWithParam<Case> {};

TEST_P(StepMemory, AsksForTheSameFewBytesInEveryStepAndForNoTensors) {
  constexpr std::size_t kBatch = 4;
  NetOptions options{.name = GetParam().net,
                     .images = find_net(GetParam().net)->usual,
                     .batch = kBatch,
                     .micro_batch = GetParam().micro_batch,
                     .backend = {.precision = GetParam().precision}};
  if (const auto offered = make_backend(options.backend); !offered) {
    GTEST_SKIP() << offered.error().message;
  }
  const auto net = make_net(options).value();
  ASSERT_GT(counters.tensors, 0);
  for (std::uint32_t i = 0; i < net->parameters().size(); ++i) {
    initialize(net->parameter(i), net->parameters()[i], {.seed = 1, .tensor = i});
  }
  const std::vector<std::uint8_t> pixels(kBatch * options.images.values(), 100);
  std::vector<float> levels;
  for (std::size_t i = 0; i < kBatch; ++i) {
    levels.insert(levels.end(), options.images.channels, 0.5F);
    levels.insert(levels.end(), options.images.channels, 2.0F);
  }
  const std::vector<std::uint16_t> labels(kBatch, 1);
  Ignored sink;
  const auto step = [&] {
    for (std::size_t i = 0; i < net->parameters().size(); ++i) net->parameters_changed(i);
    EXPECT_TRUE(net->train_step(PixelImages{pixels, levels}, labels, sink).ok());
  };
  step();  // libraries may set themselves up
  step();
  const Asked once = asked_by(step);
  RecordProperty("asked", testing::PrintToString(once));
  EXPECT_EQ(once.tensors, 0);
  EXPECT_EQ(once.kept, 0);
  EXPECT_GT(once.times, 0) << "the library's calls are not counted";
  EXPECT_LT(once.times, 2000) << testing::PrintToString(once);
  for (int more = 0; more < 3; ++more) EXPECT_EQ(asked_by(step), once);
}

INSTANTIATE_TEST_SUITE_P(Nets, StepMemory,
                         testing::Values(Case{"lenet"}, Case{"lenet", Element::bf16},
                                         Case{"lenet", Element::fp32, 2}, Case{"cifarnet"},
                                         Case{"cifarnet", Element::bf16}, Case{"resnet_20"}),
                         [](const auto& info) {
                           const Case& one = info.param;
                           return std::string(one.net) +
                                  (one.precision == Element::bf16 ? "_bf16" : "") +
                                  (one.micro_batch > 0 ? "_in_passes" : "");
                         });

}  // namespace
}  // namespace sterna::nets
