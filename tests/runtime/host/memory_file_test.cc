// Memory that its holder hands from one process to the next.
#include "runtime/host/memory_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace sterna {
namespace {

/// As the spawner hands it to a child.
std::unique_ptr<KeptMemory> inherited(const MemoryFile& file, const std::string& name = "worker0") {
  const int descriptor = ::dup(file.descriptor());
  auto memory = inherited_memory(descriptor, name);
  if (memory == nullptr) ::close(descriptor);
  return memory;
}

TEST(MemoryFile, WhatOneProcessWroteTheNextOneFindsHoweverTheFirstEnded) {
  const Result<MemoryFile> file = MemoryFile::make("worker0");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto memory = inherited(*file);
    const auto region = memory ? memory->take(100'000) : Error{};
    if (region) std::ranges::fill(region->bytes, std::byte{7});
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto memory = inherited(*file);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->size(), 100'000U);
  const auto region = memory->take(100'000);
  ASSERT_TRUE(region.ok()) << region.error().message;
  EXPECT_EQ(std::ranges::count(region->bytes, std::byte{7}), 100'000);
}

TEST(MemoryFile, ItIsZeroAtFirstAndHasTheSizeThatWasAskedFirst) {
  const MemoryFile file = MemoryFile::make("worker0").value();
  const auto first = inherited(file);
  EXPECT_EQ(first->size(), 0U);
  const auto region = first->take(4096);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(std::ranges::count(region->bytes, std::byte{}), 4096);
  EXPECT_EQ(first->size(), 4096U);
  EXPECT_EQ(first->take(4096).error().code, Errc::already_exists);
  EXPECT_EQ(inherited(file)->take(8192).error().code, Errc::invalid_argument);
}

TEST(MemoryFile, NobodyMakesItShorterUnderWhoHasItMapped) {
  const MemoryFile file = MemoryFile::make("worker0").value();
  const auto region = inherited(file)->take(4096);
  ASSERT_TRUE(region.ok());
  EXPECT_NE(::ftruncate(file.descriptor(), 0), 0);
  region->bytes.back() = std::byte{1};
}

TEST(MemoryFile, MoreThanTheMachineHasIsRefusedAndNothingIsTaken) {
  const MemoryFile file = MemoryFile::make("worker0").value();
  const auto memory = inherited(file);
  EXPECT_EQ(memory->take(std::size_t{1} << 62).error().code, Errc::overloaded);
  EXPECT_EQ(memory->size(), 0U);
  EXPECT_TRUE(memory->take(4096).ok());
}

TEST(MemoryFile, PieceByPieceItGoesToAnotherHost) {
  const MemoryFile here = MemoryFile::make("worker0").value();
  EXPECT_EQ(here.size(), 0U);
  EXPECT_EQ(here.read(0, 100)->size(), 0U);
  {
    const auto region = inherited(here)->take(10'000);
    ASSERT_TRUE(region.ok());
    for (std::size_t i = 0; i < 10'000; ++i) region->bytes[i] = static_cast<std::byte>(i % 251);
  }
  MemoryFile there = MemoryFile::make("worker0").value();
  for (std::uint64_t at = 0; at < here.size();) {
    const Result<Bytes> piece = here.read(at, 4096);
    ASSERT_TRUE(piece.ok()) << piece.error().message;
    ASSERT_TRUE(there.write(at, here.size(), piece->view()).ok());
    at += piece->size();
  }
  const auto region = inherited(there)->take(10'000);
  ASSERT_TRUE(region.ok()) << region.error().message;
  for (std::size_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(region->bytes[i], static_cast<std::byte>(i % 251)) << i;
  }
  EXPECT_NE(::ftruncate(there.descriptor(), 0), 0) << "nobody makes it shorter";
}

TEST(MemoryFile, OnlyTheNextPieceIsTaken) {
  const std::vector<std::byte> piece(100);
  const auto refused = [&](MemoryFile& file, std::uint64_t offset, std::uint64_t size) {
    return file.write(offset, size, piece).error().code == Errc::invalid_argument;
  };
  MemoryFile file = MemoryFile::make("worker0").value();
  EXPECT_TRUE(refused(file, 100, 200)) << "its beginning did not come";
  EXPECT_TRUE(refused(file, 0, 99)) << "it is longer than all of it";
  EXPECT_EQ(file.write(0, 200, {}).error().code, Errc::invalid_argument);
  EXPECT_TRUE(file.write(0, 200, piece).ok());
  EXPECT_TRUE(refused(file, 0, 200)) << "twice";
  EXPECT_TRUE(refused(file, 50, 200));
  EXPECT_TRUE(refused(file, 100, 300)) << "of another size";
  EXPECT_TRUE(refused(file, ~std::uint64_t{0}, 200));
  EXPECT_TRUE(file.write(100, 200, piece).ok());
  EXPECT_TRUE(refused(file, 200, 200)) << "it is whole";
  MemoryFile too_much = MemoryFile::make("worker0").value();
  EXPECT_EQ(too_much.write(0, std::uint64_t{1} << 62, piece).error().code, Errc::overloaded);
}

TEST(MemoryFile, WhatIsNoneOrAnothersIsLeftAlone) {
  const MemoryFile file = MemoryFile::make("worker1").value();
  EXPECT_EQ(inherited(file, "worker0"), nullptr);
  EXPECT_EQ(inherited_memory(STDERR_FILENO, "worker0"), nullptr);
  EXPECT_EQ(inherited_memory(-1, "worker0"), nullptr);
  EXPECT_NE(inherited(MemoryFile::make(std::string(300, 'x')).value(), std::string(300, 'x')),
            nullptr);
}

}  // namespace
}  // namespace sterna
