#include "launcher/owner/owner_words.h"

#include <cstring>
#include <memory>
#include <utility>

#include "runtime/message/fields.h"

namespace sterna::launcher {
namespace {
constexpr std::uint64_t kLongestWord = 64U << 20;
}  // namespace

STERNA_MESSAGE(OwnerWord, FIELD(kind, Kind), FIELD(text, Text), FIELD(data, Data),
               FIELD(number, Number))

Bytes as_written(const OwnerWord& word) { return with_size(pack(word)); }

bool WordReader::take(std::string_view bytes) {
  pending_ += bytes;
  std::size_t at = 0;
  while (pending_.size() - at >= sizeof(std::uint64_t)) {
    std::uint64_t size = 0;
    std::memcpy(&size, pending_.data() + at, sizeof(size));
    if (size > kLongestWord) return false;
    if (pending_.size() - at - sizeof(size) < size) break;
    const std::string_view packed(pending_.data() + at + sizeof(size), size);
    Result<OwnerWord> word = unpack<OwnerWord>(std::as_bytes(std::span(packed)));
    if (!word) return false;
    at += sizeof(size) + size;
    on_word_(std::move(word).value());
  }
  pending_.erase(0, at);
  return true;
}

}  // namespace sterna::launcher
