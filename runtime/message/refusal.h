// Where and why a message may not be taken, or sent.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::detail {

struct Refusal {
  std::string where;  ///< ".packets[3].codec"
  std::string what;   ///< empty: nothing is wrong
  /// These are always false.
  bool because(std::string reason);
  bool within(const char* field);
  bool within(unsigned element);
  /// What is wrong, and where in that message, is what is wrong of what holds it.
  void of(std::string_view message);
  /// "Pull.packets[3].codec: 9"
  std::string text(std::string_view message) const;
  /// Of a peer that sent it: malformed.
  Error error(std::string_view message) const;
};

}  // namespace sterna::detail
