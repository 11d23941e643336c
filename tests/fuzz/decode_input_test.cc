// What the fuzzer does for hours, for a moment: every seed decodes, and every seed with one byte
// changed, or cut short, ends in a message or an error.
#include "tests/fuzz/decode_input.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/fuzz/message_list.h"
#include "tests/sanitized.h"

namespace sterna::fuzz {
namespace {

/// The head and the first fields; the fuzzer changes the rest.
constexpr std::size_t kLookedAt = 240;
/// Fuzzers look further, and at all bytes.
constexpr std::size_t kApart = test::kSanitized ? 5 : 1;

bool decodes(const std::string& input) {
  return decode_input(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

TEST(DecodeInput, MessageTypesAreDistinct) {
  std::set<std::uint64_t> ids;
  for (const Known& known : every_message()) ids.insert(known.type->type_id);
  EXPECT_EQ(ids.size(), every_message().size());
  EXPECT_GE(ids.size(), 50u);
}

TEST(DecodeInput, FullSeedsDecode) {
  const std::vector<std::string> all = seeds();
  // The plainest messages may lack what their receivers insist on (a server, a rank).
  for (std::size_t i = every_message().size(); i < all.size(); ++i) {
    EXPECT_TRUE(decodes(all[i])) << "seed " << i;
  }
}

TEST(DecodeInput, OneWrongByteNeverHurts) {
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::string input : seeds()) {
    for (std::size_t at = 0; at < std::min(input.size(), kLookedAt); at += kApart) {
      const char right = input[at];
      for (const int flip : {0x01, 0x40, 0xff}) {
        input[at] = static_cast<char>(right ^ flip);
        refused += decodes(input) ? 0 : 1;
        ++tried;
      }
      input[at] = right;
    }
  }
  EXPECT_GT(refused, tried / 20);
  EXPECT_LT(refused, tried);
}

TEST(DecodeInput, NoTruncationHurts) {
  for (const std::string& input : seeds()) {
    for (std::size_t size = 0; size < std::min(input.size(), kLookedAt); size += kApart) {
      decodes(input.substr(0, size));
    }
    decodes(input.substr(0, input.size() - 8));
  }
}

}  // namespace
}  // namespace sterna::fuzz
