// GrowingFile: the lines of a file that others write, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launcher/text/line_splitter.h"

namespace sterna::launcher {

class GrowingFile {
 public:
  static constexpr std::uint64_t kAll = UINT64_MAX;
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  static constexpr std::size_t kLongest = LineSplitter::kLongest;

  /// Of what is there already only the last `most_before` bytes are read; of a line that is longer
  /// than `longest` only so much.
  explicit GrowingFile(std::string path, std::uint64_t most_before = kAll,
                       std::size_t longest = kLongest)
      : path_(std::move(path)), most_before_(most_before), splitter_(longest) {}
  /// What comes behind so many bytes, which are whole lines.
  static GrowingFile behind(std::string path, std::uint64_t offset);

  /// The whole lines that came since the last call, without their ends, of at most kPiece bytes;
  /// none where there is no regular file.
  std::vector<std::string> lines();
  /// Whether the last call read as much as it may, so that there may be more.
  bool has_more() const { return has_more_; }
  /// What came behind the last line's end, once nobody writes any more.
  std::string take_rest();
  /// Whether the file was cut and begun anew, so that the lines before the last call's are no more;
  /// once.
  bool began_anew() { return std::exchange(began_anew_, false); }

 private:
  void begin_anew();

  std::string path_;
  std::uint64_t most_before_;
  LineSplitter splitter_;
  std::uint64_t offset_ = 0;
  bool began_ = false;
  bool began_anew_ = false;
  bool has_more_ = false;
  bool skips_ = false;  ///< to the next line's beginning
};

}  // namespace sterna::launcher
