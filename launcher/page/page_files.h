// The page's own files, as they lie in this program, gzipped: made at build from page/files/ and
// dygraphs (cmake/Embedding.cmake).
#pragma once

#include <span>
#include <string_view>

namespace sterna::launcher {

struct PageFile {
  std::string_view path;  ///< "/page.js"
  std::string_view type;  ///< of its content
  std::span<const unsigned char> gzipped;
};

std::span<const PageFile> page_files();

}  // namespace sterna::launcher
