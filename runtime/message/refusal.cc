#include "runtime/message/refusal.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/message/field_rules.h"

namespace sterna::detail {

bool Refusal::because(std::string reason) {
  what = std::move(reason);
  return false;
}

bool Refusal::within(const char* field) {
  where.insert(0, "." + schema_name(field));
  return false;
}

bool Refusal::within(unsigned element) {
  where.insert(0, fmt::format("[{}]", element));
  return false;
}

void Refusal::of(std::string_view message) {
  what = text(message);
  where.clear();
}

std::string Refusal::text(std::string_view message) const {
  return fmt::format("{}{}: {}", message, where, what);
}

Error Refusal::error(std::string_view message) const { return {Errc::malformed, text(message)}; }

}  // namespace sterna::detail
