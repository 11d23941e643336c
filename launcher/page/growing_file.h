// GrowingFile: the lines of a file that others write, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sterna::launcher {

class GrowingFile {
 public:
  /// Of what is there already only the last so many bytes are read.
  static constexpr std::uint64_t kAll = UINT64_MAX;
  explicit GrowingFile(std::string path, std::uint64_t most_before = kAll)
      : path_(std::move(path)), most_before_(most_before) {}

  /// The whole lines that came since the last call, without their ends, of at most kPiece bytes;
  /// none where there is no file. A line longer than kLongest is cut there.
  std::vector<std::string> lines();
  /// Whether the last call read as much as it may, so that there may be more.
  bool has_more() const { return has_more_; }
  /// Whether the file was cut and begun anew, so that the lines before the last call's are no more;
  /// once.
  bool began_anew() { return std::exchange(began_anew_, false); }

  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  static constexpr std::size_t kLongest = std::size_t{64} << 10;

 private:
  void begin_anew();

  std::string path_;
  std::uint64_t most_before_;
  std::uint64_t offset_ = 0;
  bool began_ = false;
  bool began_anew_ = false;
  bool has_more_ = false;
  bool skips_ = false;  ///< to the next line's beginning
  std::string rest_;    ///< of a line that has no end yet
};

}  // namespace sterna::launcher
