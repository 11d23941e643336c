// Every message as it was first recorded, byte for byte: what a change of code must not change
// unasked. A wire format that is meant to change takes new lines in recorded_messages.txt: the test
// prints them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/fuzz/sample_message.h"

namespace sterna::fuzz {
namespace {

std::string name_of(const Known& known) { return known.schema.getProto().getDisplayName().cStr(); }

/// "NAME BYTES FNV-1a", of the packed message.
std::string line_of(const std::string& name, const Bytes& packed) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : packed.view()) {
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
  }
  std::ostringstream line;
  line << name << " " << packed.size() << " " << std::hex << hash;
  return line.str();
}

std::map<std::string, std::string> recorded() {
  const char* source = std::getenv("STERNA_SOURCE");
  std::ifstream file(std::string(source == nullptr ? "." : source) +
                     "/tests/fuzz/recorded_messages.txt");
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(file, line);) lines[line.substr(0, line.find(' '))] = line;
  return lines;
}

TEST(RecordedMessages, EachIsSentOnAsItWas) {
  const auto lines = recorded();
  for (const Known& known : every_message()) {
    const std::string name = name_of(known);
    const Bytes sample = sample_message(known);
    const Result<Bytes> sent = sent_on(known, sample);
    ASSERT_TRUE(sent) << name << ": " << sent.error().message;
    EXPECT_EQ(values_of(known, *sent), values_of(known, sample)) << name;
    const auto line = lines.find(name);
    EXPECT_EQ(line_of(name, *sent), line == lines.end() ? "not recorded" : line->second);
    const Result<Bytes> again = sent_on(known, *sent);
    ASSERT_TRUE(again) << name << ": " << again.error().message;
    EXPECT_EQ(line_of(name, *again), line_of(name, *sent));
  }
}

TEST(RecordedMessages, NoneIsRecordedThatIsNotThere) {
  std::map<std::string, std::string> lines = recorded();
  for (const Known& known : every_message()) lines.erase(name_of(known));
  for (const auto& [name, line] : lines) ADD_FAILURE() << line;
}

}  // namespace
}  // namespace sterna::fuzz
