// A terminal that belongs to a test: what is written to it can be read again.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <string>

namespace sterna::launcher {

class PseudoTerminal {
 public:
  PseudoTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() {
    ::close(slave_);
    ::close(master_);
  }

  /// What a program writes to.
  int descriptor() const { return slave_; }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size{rows, columns, 0, 0};
    ::ioctl(slave_, TIOCSWINSZ, &size);
  }
  /// What was written since the last call, as a terminal gets it: "\n" as "\r\n".
  std::string shown() const {
    std::string text;
    std::array<char, 4096> bytes;
    for (ssize_t got = 1; got > 0;) {
      got = ::read(master_, bytes.data(), bytes.size());
      if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int master_;
  int slave_;
};

}  // namespace sterna::launcher
