#include "runtime/actor/registry.h"

#include "runtime/message/field_rules.h"
#include "runtime/message/json_args.h"

namespace sterna {

namespace {
std::string arguments_of(const std::string& type) { return "the arguments of a '" + type + "'"; }
}  // namespace

Result<const Registry::Type*> Registry::find(const std::string& type) const {
  const auto found = types_.find(type);
  if (found != types_.end()) return &found->second;
  std::string known;
  for (const auto& [name, about] : types_) known += (known.empty() ? "" : ", ") + name;
  return Error{Errc::not_found,
               "no actor type is called '" + type + "'; this program has: " + known};
}

Result<Registry::Made> Registry::make(const std::string& type, ByteView packed_args) const {
  STERNA_ASSIGN(const Type* found, find(type));
  try {
    Result<Made> made = found->make(packed_args);
    if (!made) return std::move(made).error().in(arguments_of(type));
    return made;
  } catch (...) {
    return Error{Errc::internal, threw("its constructor", std::current_exception())};
  }
}

Result<Bytes> Registry::args_from_json(const std::string& type, std::string_view json) const {
  STERNA_ASSIGN(const Type* found, find(type));
  Result<Bytes> packed = pack_json(found->args, json);
  if (!packed) return std::move(packed).error().in(arguments_of(type));
  if (const Result<void> good = found->check(packed->view()); !good) {
    return Error{Errc::invalid_argument, good.error().message}.in(arguments_of(type));
  }
  return packed;
}

void Registry::begin(const std::string& type) {
  if (types_.contains(type) && complaint_.empty()) {
    complaint_ = "two actor types are called '" + type + "'";
  }
  mix(type);
}

void Registry::look_at(const MessageFields& fields) {
  if (complaint_.empty()) complaint_ = fields.complaint();
}

// FNV-1a: it tells versions apart; it protects against nobody.
void Registry::mix(std::string_view bytes) {
  for (const char byte : bytes) {
    schema_hash_ = (schema_hash_ ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3ULL;
  }
}

void Registry::mix_schema(const capnp::_::RawSchema& schema) {
  // Each time, as who takes it and where it stands is part of the format.
  mix({reinterpret_cast<const char*>(&schema.id), sizeof(schema.id)});
  if (!schemas_.insert(schema.id).second) return;
  mix({reinterpret_cast<const char*>(schema.encodedNode),
       schema.encodedSize * sizeof(capnp::word)});
  for (std::uint32_t i = 0; i < schema.dependencyCount; ++i) mix_schema(*schema.dependencies[i]);
}

}  // namespace sterna
