// One of a test's standard descriptors, lent to a pipe and given back.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

namespace sterna {

class BorrowedDescriptor {
 public:
  /// From here on `number` is an end of a pipe (0 reads from it); `other()` is the other one.
  explicit BorrowedDescriptor(int number) : number_(number), kept_(::dup(number)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const bool reads = number == STDIN_FILENO;
    ::dup2(ends[reads ? 0 : 1], number);
    ::close(ends[reads ? 0 : 1]);
    other_ = ends[reads ? 1 : 0];
  }
  ~BorrowedDescriptor() {
    give_back();
    close_other();
  }
  BorrowedDescriptor(const BorrowedDescriptor&) = delete;
  BorrowedDescriptor& operator=(const BorrowedDescriptor&) = delete;
  void give_back() {
    if (kept_ < 0) return;
    ::dup2(kept_, number_);
    ::close(std::exchange(kept_, -1));
  }
  int other() const { return other_; }
  void close_other() {
    if (other_ >= 0) ::close(std::exchange(other_, -1));
  }
  /// What has been written to it; it is given back first.
  std::string text() {
    give_back();
    std::string all;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::read(other_, buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int number_;
  int kept_;
  int other_ = -1;
};

}  // namespace sterna
