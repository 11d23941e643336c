#include "runtime/registry.h"

namespace sterna {

Result<Registry::Made> Registry::make(const std::string& type, ByteView packed_args) const {
  const auto found = types_.find(type);
  if (found == types_.end()) {
    std::string known;
    for (const auto& [name, factory] : types_) known += (known.empty() ? "" : ", ") + name;
    return Error{Errc::not_found,
                 "no actor type is called '" + type + "'; this program has: " + known};
  }
  Result<Made> made = found->second(packed_args);
  if (!made) return std::move(made).error().in("the arguments of a '" + type + "'");
  return made;
}

// FNV-1a: it tells versions apart; it protects against nobody.
void Registry::mix(std::string_view bytes) {
  for (const char byte : bytes) {
    schema_hash_ = (schema_hash_ ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3ULL;
  }
}

void Registry::mix_words(const capnp::word* begin, std::size_t words) {
  mix({reinterpret_cast<const char*>(begin), words * sizeof(capnp::word)});
}

}  // namespace sterna
