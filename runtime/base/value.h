// Values of keys, as a cluster file and a job on its way to an actor write them: a tree of what can
// stand there, what a key lets pass, and from one to the other. Where a text has to say so, it says
// it as TOML does.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/clock.h"

namespace sterna {

/// Ports that processes may bind, both ends included.
struct PortRange {
  std::uint16_t low = 0;
  std::uint16_t high = 0;
  bool operator==(const PortRange&) const = default;
};

/// A number of bytes; 0: no limit.
struct ByteCount {
  std::uint64_t count = 0;
  bool operator==(const ByteCount&) const = default;
};

/// Bytes a second; 0: no limit.
struct ByteRate {
  std::uint64_t count = 0;
  bool operator==(const ByteRate&) const = default;
};

/// A JSON object as text, its keys in alphabetical order.
struct JsonObject {
  std::string text = "{}";
  bool operator==(const JsonObject&) const = default;
};

/// true, false, or a text in place of true that says more (a path).
struct TrueOrText {
  bool given = false;
  std::string text = {};  ///< empty: only true
  bool operator==(const TrueOrText&) const = default;
};

/// What was written, and in which line of a file, if any.
struct Value {
  struct Entry;
  /// A kind of value that no key of ours takes: a date or a time.
  struct Other {
    std::string kind;
  };
  using Array = std::vector<Value>;
  using Table = std::vector<Entry>;  ///< in the order of the file

  int line = 0;
  bool header = false;  ///< of a table: written as [name] or [[name]], not as a.b = … or {…}
  std::variant<std::int64_t, double, bool, std::string, Array, Table, Other> data;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
};

struct Value::Entry {
  std::string key;
  int line = 0;  ///< of the key
  Value value;
};

/// `value` for a message: `the integer 7`, `the text "many"`, `a table`.
std::string in_words(const Value& value);

/// The limits of a number, or of each in a list (durations in seconds); `open` excludes the limit
/// itself.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
};

/// What a key's value may be.
struct ValueRule {
  std::vector<std::string_view> choices = {};
  Limits limits = {};
  bool identifier = false;  ///< part of file and socket names: letters, digits, _ - . (each, if
                            ///< it is a list; of a table, the names are variables')
};

/// "at least 1", "above 0 and below 1", or "" without limits.
std::string describe(const Limits& limits);
/// `"a", "b" or "c"`
std::string describe(const std::vector<std::string_view>& choices);

/// Each converts `value` into `out`, or returns what is wanted instead ("must be at least 1, not
/// -4"); `out` is then unchanged.
using Complaint = std::optional<std::string>;
Complaint convert(const Value& value, const ValueRule& rule, std::int64_t& out);
Complaint convert(const Value& value, const ValueRule& rule, std::uint64_t& out);
Complaint convert(const Value& value, const ValueRule& rule, std::uint32_t& out);
Complaint convert(const Value& value, const ValueRule& rule, double& out);
Complaint convert(const Value& value, const ValueRule& rule, bool& out);
Complaint convert(const Value& value, const ValueRule& rule, std::string& out);
Complaint convert(const Value& value, const ValueRule& rule, Duration& out);
Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::string>& out);
Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::int64_t>& out);
Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::uint32_t>& out);
Complaint convert(const Value& value, const ValueRule& rule, std::vector<double>& out);
Complaint convert(const Value& value, const ValueRule& rule, std::optional<PortRange>& out);
Complaint convert(const Value& value, const ValueRule& rule, ByteCount& out);
Complaint convert(const Value& value, const ValueRule& rule, ByteRate& out);
Complaint convert(const Value& value, const ValueRule& rule,
                  std::map<std::string, std::string>& out);
Complaint convert(const Value& value, const ValueRule& rule, JsonObject& out);
Complaint convert(const Value& value, const ValueRule& rule, TrueOrText& out);

/// The inverse: each value as TOML text that converts back to it. Of a number: a float that reads
/// back to the same bits.
std::string toml_text(std::int64_t value);
std::string toml_text(std::uint64_t value);
std::string toml_text(std::uint32_t value);
std::string toml_text(double value);
std::string toml_text(bool value);
std::string toml_text(const std::string& value);
std::string toml_text(Duration value);
std::string toml_text(const std::vector<std::string>& value);
std::string toml_text(const std::vector<std::int64_t>& value);
std::string toml_text(const std::vector<std::uint32_t>& value);
std::string toml_text(const std::vector<double>& value);
std::string toml_text(const std::optional<PortRange>& value);
std::string toml_text(const ByteCount& value);
std::string toml_text(const ByteRate& value);
std::string toml_text(const std::map<std::string, std::string>& value);
std::string toml_text(const JsonObject& value);
std::string toml_text(const TrueOrText& value);

/// `text` as a TOML basic string, quotes included.
std::string toml_quoted(std::string_view text);

}  // namespace sterna
