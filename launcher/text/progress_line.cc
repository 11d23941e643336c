#include "launcher/text/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "launcher/text/text_format.h"

namespace sterna::launcher {

ProgressLine::ProgressLine(const Clock& clock)
    : clock_(clock), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_at_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(std::string_view text) {
  constexpr Duration kFrameTime = std::chrono::milliseconds(100);
  if (!terminal_ || (shown_at_ && clock_.now() - *shown_at_ < kFrameTime)) return;
  std::fprintf(stderr, "\r%s\x1b[K", printable(text).c_str());
  shown_at_ = clock_.now();
}

}  // namespace sterna::launcher
