#include "runtime/message/json_args.h"

#include <capnp/dynamic.h>
#include <fmt/format.h>
#include <kj/exception.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/message/packed_message.h"

namespace sterna {

namespace {

using capnp::Type;
using nlohmann::json;

/// Of structs within each other; a message that nests deeper is refused by its reader anyway.
constexpr int kDeepest = 32;

Error wrong(std::string message) { return {Errc::invalid_argument, std::move(message)}; }

std::string text_of(kj::StringPtr text) { return {text.begin(), text.size()}; }

std::string expectation(Type type) {
  if (!type.isEnum()) return "a value of type " + type_name(type);
  std::string names;
  for (const auto enumerant : type.asEnum().getEnumerants()) {
    names += (names.empty() ? "one of " : ", ") + text_of(enumerant.getProto().getName());
  }
  return names;
}

std::string known_keys(capnp::StructSchema schema) {
  std::string keys;
  for (const auto field : schema.getFields()) {
    keys += (keys.empty() ? "there are: " : ", ") + text_of(field.getProto().getName());
  }
  return keys.empty() ? "there are none" : keys;
}

/// Null if the value is not of the type; its range is checked where it is set. It points into
/// `value`.
std::optional<capnp::DynamicValue::Reader> as_type(const json& value, Type type) {
  switch (type.which()) {
    case capnp::schema::Type::BOOL:
      if (value.is_boolean()) return value.get<bool>();
      return std::nullopt;
    case capnp::schema::Type::INT8:
    case capnp::schema::Type::INT16:
    case capnp::schema::Type::INT32:
    case capnp::schema::Type::INT64:
    case capnp::schema::Type::UINT8:
    case capnp::schema::Type::UINT16:
    case capnp::schema::Type::UINT32:
    case capnp::schema::Type::UINT64:
      if (value.is_number_unsigned()) return value.get<std::uint64_t>();
      if (value.is_number_integer()) return value.get<std::int64_t>();
      return std::nullopt;
    case capnp::schema::Type::FLOAT32:
    case capnp::schema::Type::FLOAT64:
      if (value.is_number()) return value.get<double>();
      return std::nullopt;
    case capnp::schema::Type::TEXT:
      if (value.is_string())
        return capnp::Text::Reader(value.get_ref<const std::string&>().c_str());
      return std::nullopt;
    case capnp::schema::Type::DATA: {
      if (!value.is_string()) return std::nullopt;
      const std::string& text = value.get_ref<const std::string&>();
      return capnp::Data::Reader(reinterpret_cast<const kj::byte*>(text.data()), text.size());
    }
    case capnp::schema::Type::ENUM:
      if (value.is_string()) {
        const std::string& name = value.get_ref<const std::string&>();
        KJ_IF_MAYBE (enumerant, type.asEnum().findEnumerantByName(name.c_str())) {
          return capnp::DynamicEnum(*enumerant);
        }
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Copies a parsed value into a message, and knows by which keys it got where it is.
class Filler {
 public:
  Result<void> fill(const std::string& path, const json& from, capnp::DynamicStruct::Builder out) {
    if (!from.is_object()) {
      return wrong(path.empty() ? "they must be an object of keys and values"
                                : fmt::format("'{}' must be an object of keys and values", path));
    }
    if (depth_ == kDeepest) return wrong(fmt::format("'{}' is too deep", path));
    ++depth_;
    for (const auto& [key, value] : from.items()) {
      const std::string here = path.empty() ? key : fmt::format("{}.{}", path, key);
      KJ_IF_MAYBE (field, out.getSchema().findFieldByName(key.c_str())) {
        STERNA_TRY(fill_field(here, value, *field, out));
      } else {
        return wrong(fmt::format("there is no '{}'; {}", here, known_keys(out.getSchema())));
      }
    }
    --depth_;
    return {};
  }

 private:
  Result<void> fill_field(const std::string& path, const json& from,
                          capnp::StructSchema::Field field, capnp::DynamicStruct::Builder out) {
    const Type type = field.getType();
    if (type.isStruct()) return fill(path, from, out.init(field).as<capnp::DynamicStruct>());
    if (type.isList() && from.is_array()) {
      const auto size = static_cast<capnp::uint>(from.size());
      return fill_list(path, from, out.init(field, size).as<capnp::DynamicList>());
    }
    return set(path, from, type, [&](const auto& value) { out.set(field, value); });
  }

  Result<void> fill_list(const std::string& path, const json& from,
                         capnp::DynamicList::Builder out) {
    const Type type = out.getSchema().getElementType();
    for (capnp::uint i = 0; i < out.size(); ++i) {
      const std::string here = fmt::format("{}[{}]", path, i);
      if (type.isStruct()) {
        STERNA_TRY(fill(here, from[i], out[i].as<capnp::DynamicStruct>()));
      } else if (type.isList() && from[i].is_array()) {
        const auto size = static_cast<capnp::uint>(from[i].size());
        STERNA_TRY(fill_list(here, from[i], out.init(i, size).as<capnp::DynamicList>()));
      } else {
        STERNA_TRY(set(here, from[i], type, [&](const auto& value) { out.set(i, value); }));
      }
    }
    return {};
  }

  template <class Set>
  Result<void> set(const std::string& path, const json& from, Type type, Set set_value) {
    const Error error = wrong(fmt::format("'{}' must be {}", path, expectation(type)));
    const std::optional<capnp::DynamicValue::Reader> value = as_type(from, type);
    if (!value) return error;
    try {
      set_value(*value);
    } catch (const kj::Exception&) {  // out of range
      return error;
    }
    return {};
  }

  int depth_ = 0;
};

Result<json> parse(std::string_view text) {
  try {
    return json::parse(text);
  } catch (const json::exception& exception) {
    const std::string_view what = exception.what();
    return wrong("no JSON: " + std::string(what.substr(what.find(']') + 1)));
  }
}

}  // namespace

Result<Bytes> pack_json(capnp::StructSchema schema, std::string_view text) {
  STERNA_ASSIGN(const json parsed, parse(text));
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = schema.getProto().getId();
  Result<void> filled;
  STERNA_ASSIGN(const auto frames, encoder.encode(header, [&](auto& envelope, WireWriter&) {
    const auto body = envelope.initBody().template initAs<capnp::DynamicStruct>(schema);
    filled = Filler().fill("", parsed, body);
  }));
  if (!filled) return std::move(filled).error();
  return detail::pack_frames(frames);
}

std::string type_name(Type type) {
  switch (type.which()) {
    case capnp::schema::Type::VOID:
      return "Void";
    case capnp::schema::Type::BOOL:
      return "Bool";
    case capnp::schema::Type::INT8:
      return "Int8";
    case capnp::schema::Type::INT16:
      return "Int16";
    case capnp::schema::Type::INT32:
      return "Int32";
    case capnp::schema::Type::INT64:
      return "Int64";
    case capnp::schema::Type::UINT8:
      return "UInt8";
    case capnp::schema::Type::UINT16:
      return "UInt16";
    case capnp::schema::Type::UINT32:
      return "UInt32";
    case capnp::schema::Type::UINT64:
      return "UInt64";
    case capnp::schema::Type::FLOAT32:
      return "Float32";
    case capnp::schema::Type::FLOAT64:
      return "Float64";
    case capnp::schema::Type::TEXT:
      return "Text";
    case capnp::schema::Type::DATA:
      return "Data";
    case capnp::schema::Type::LIST:
      return "List(" + type_name(type.asList().getElementType()) + ")";
    case capnp::schema::Type::ENUM:
      return text_of(type.asEnum().getShortDisplayName());
    case capnp::schema::Type::STRUCT:
      return text_of(type.asStruct().getShortDisplayName());
    case capnp::schema::Type::INTERFACE:
      return "Interface";
    case capnp::schema::Type::ANY_POINTER:
      return "AnyPointer";
  }
  return "unknown";
}

}  // namespace sterna
