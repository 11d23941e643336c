#include "runtime/message/field_rules.h"

#include <capnp/dynamic.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sterna {
namespace {

using capnp::DynamicList;
using capnp::DynamicStruct;
using capnp::DynamicValue;

constexpr unsigned kShown = 4;  // elements of a list

std::string name_of(capnp::StructSchema::Field field) { return field.getProto().getName().cStr(); }

bool is_struct(capnp::Type type) {
  while (type.isList()) type = type.asList().getElementType();
  return type.isStruct();
}

capnp::StructSchema struct_of(capnp::Type type) {
  while (type.isList()) type = type.asList().getElementType();
  return type.asStruct();
}

std::string complaint_of(capnp::StructSchema schema, const std::vector<FieldRule>& rules,
                         const std::string& prefix) {
  for (const auto field : schema.getFields()) {
    const std::string name = prefix + name_of(field);
    const auto times = std::count_if(rules.begin(), rules.end(),
                                     [&](const FieldRule& rule) { return rule.field == name; });
    if (times != 1) {
      return fmt::format("the schema's field '{}' is {} its list", name,
                         times == 0 ? "not in" : "more than once in");
    }
    const bool listed_within = std::any_of(rules.begin(), rules.end(), [&](const FieldRule& rule) {
      return rule.field.starts_with(name + ".");
    });
    // Else it is an address, or a struct with code of its own.
    if (!listed_within || !is_struct(field.getType())) continue;
    std::string within = complaint_of(struct_of(field.getType()), rules, name + ".");
    if (!within.empty()) return within;
  }
  return {};
}

/// Writes a message as a person reads it.
class Writer {
 public:
  explicit Writer(const std::vector<FieldRule>& rules) : rules_(rules) {}

  void append(DynamicStruct::Reader value, const std::string& prefix) {
    out += "{";
    bool first = true;
    for (const auto field : value.getSchema().getFields()) {
      if (!std::exchange(first, false)) out += ", ";
      out += name_of(field);
      out += ": ";
      if (is_secret(prefix + name_of(field))) {
        out += "(secret)";
      } else {
        append(value.get(field), prefix + name_of(field));
      }
    }
    out += "}";
  }
  std::string out;

 private:
  bool is_secret(const std::string& name) const {
    return std::any_of(rules_.begin(), rules_.end(),
                       [&](const FieldRule& rule) { return rule.secret && rule.field == name; });
  }
  void append(DynamicValue::Reader value, const std::string& name) {
    switch (value.getType()) {
      case DynamicValue::STRUCT:
        return append(value.as<DynamicStruct>(), name + ".");
      case DynamicValue::LIST:
        return append(value.as<DynamicList>(), name);
      case DynamicValue::DATA:
        out += fmt::format("{} bytes", value.as<capnp::Data>().size());
        return;
      default:
        out += kj::str(value).cStr();
    }
  }
  void append(DynamicList::Reader list, const std::string& name) {
    out += "[";
    for (unsigned i = 0; i < std::min(list.size(), kShown); ++i) {
      if (i > 0) out += ", ";
      append(list[i], name);
    }
    if (list.size() > kShown) out += fmt::format(", {} more", list.size() - kShown);
    out += "]";
  }

  const std::vector<FieldRule>& rules_;
};

}  // namespace

std::string MessageFields::complaint() const {
  const std::string found = complaint_of(schema, rules, "");
  return found.empty() ? "" : fmt::format("message {}: {}", message, found);
}

namespace detail {

void append_rules(std::vector<FieldRule>& rules, const std::string& prefix,
                  const std::vector<FieldRule>& more) {
  for (FieldRule rule : more) {
    rule.field.insert(0, prefix);
    rules.push_back(std::move(rule));
  }
}

void append_rule(std::vector<FieldRule>& rules, const std::string& prefix, const char* accessor,
                 const char* member, const FieldLimits& limits) {
  rules.push_back({limits, prefix + schema_name(accessor), member});
}

std::string schema_name(const char* accessor) {
  std::string name = accessor;
  if (name[0] >= 'A' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

std::string text_of(const MessageFields& fields, capnp::MessageBuilder& message) {
  Writer writer(fields.rules);
  writer.append(message.getRoot<DynamicStruct>(fields.schema).asReader(), "");
  return std::string(fields.message) + writer.out;
}

std::string shown(Duration value) {
  return fmt::format("{} s", std::chrono::duration<double>(value).count());
}
std::string shown(double value) { return fmt::format("{}", value); }
std::string shown(std::int64_t value) { return std::to_string(value); }
std::string shown(std::uint64_t value) { return std::to_string(value); }

}  // namespace detail
}  // namespace sterna
