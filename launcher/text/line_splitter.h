// LineSplitter: the lines of a text that comes in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sterna::launcher {

/// Whatever comes, it holds no more than one line, of at most `longest` bytes.
class LineSplitter {
 public:
  static constexpr std::size_t kLongest = std::size_t{64} << 10;
  /// Of a line that is longer only so many bytes are kept.
  explicit LineSplitter(std::size_t longest = kLongest) : longest_(longest) {}

  /// The lines that end in `piece`, without their ends.
  std::vector<std::string> take(std::string_view piece) {
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos;
         piece.remove_prefix(end + 1)) {
      add(piece.substr(0, end));
      lines.push_back(take_rest());
    }
    add(piece);
    return lines;
  }
  /// What came behind the last line's end: a line that has none, and is not held any more.
  std::string take_rest() { return std::exchange(rest_, {}); }

 private:
  void add(std::string_view part) { rest_ += part.substr(0, longest_ - rest_.size()); }

  std::size_t longest_;
  std::string rest_;
};

}  // namespace sterna::launcher
