// Archives as somebody else would pack them.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "packing.h"

namespace sterna::input {

/// A folder where the name ends in '/', a symbolic link where `link` is not empty, else a file.
struct Archived {
  std::string name;
  std::string content;
  std::string link = {};
};

/// One entry of POSIX's ustar: a header of 512 bytes, then the content in blocks of as many.
inline std::string ustar(const Archived& one) {
  std::string header(512, '\0');
  const auto put = [&header](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  const auto octal = [](std::size_t value, int digits) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*zo", digits, value);
    return std::string(text);
  };
  put(0, one.name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, octal(one.content.size(), 11));
  put(136, "00000000000");
  put(148, "        ");  // the sum is made with blanks in its place
  put(156, one.name.ends_with('/') ? "5" : one.link.empty() ? "0" : "2");
  put(157, one.link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  std::size_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6) + '\0');
  return header + one.content + std::string((512 - one.content.size() % 512) % 512, '\0');
}

/// The bytes of a .tar.gz.
inline std::string archive_of(const std::vector<Archived>& entries) {
  std::string tar;
  for (const Archived& one : entries) tar += ustar(one);
  tar.resize(tar.size() + 1024);
  const std::vector<std::uint8_t> bytes = gzip({tar.begin(), tar.end()});
  return {bytes.begin(), bytes.end()};
}

}  // namespace sterna::input
