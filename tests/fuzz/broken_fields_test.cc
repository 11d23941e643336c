// Each rule of each message's list of fields, broken: the message is refused, and the error names
// the message and the field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cctype>
#include <limits>
#include <map>
#include <string>

#include "runtime/host/bootstrap.h"
#include "runtime/message/packed_message.h"
#include "tests/fuzz/sample_message.h"

namespace sterna::fuzz {
namespace {

using capnp::DynamicList;
using capnp::DynamicStruct;
using testing::HasSubstr;
using Kind = FieldRule::Kind;
using SchemaType = capnp::schema::Type;
using Field = capnp::StructSchema::Field;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBeyond = 1 << 20;  // of times, which rules have as doubles: a millisecond

/// Calls set(struct, field) where `path` leads, in the first element of every list on the way.
void at(DynamicStruct::Builder wire, const std::string& path, const auto& set) {
  const auto dot = path.find('.');
  const Field field = wire.getSchema().getFieldByName(path.substr(0, dot).c_str());
  if (dot == std::string::npos) return set(wire, field);
  auto inner = wire.get(field);
  at(field.getType().isList() ? inner.as<DynamicList>()[0].as<DynamicStruct>()
                              : inner.as<DynamicStruct>(),
     path.substr(dot + 1), set);
}

class BrokenFields : public testing::Test {
 protected:
  void break_all(const Known& known) {
    for (const FieldRule& rule : known.fields->rules) {
      known_ = &known;
      field_ = rule.field;
      break_rule(rule);
    }
  }
  int broken_ = 0;

 private:
  void refused(const auto& set) {
    const Bytes sample =
        sample_message(*known_, [&](DynamicStruct::Builder wire) { at(wire, field_, set); });
    const Result<Bytes> sent = sent_on(*known_, sample);
    const std::string name = std::string(known_->fields->message) + "." + field_;
    ASSERT_FALSE(sent) << name << " is taken";
    EXPECT_EQ(sent.error().code, Errc::malformed) << name;
    EXPECT_THAT(sent.error().message, HasSubstr(std::string(known_->fields->message) + "."))
        << name;
    EXPECT_THAT(sent.error().message, HasSubstr(field_.substr(field_.rfind('.') + 1))) << name;
    ++broken_;
  }
  void refused_value(capnp::DynamicValue::Reader value) {
    refused([&](DynamicStruct::Builder wire, Field field) { wire.set(field, value); });
  }
  void refused_size(double size) {
    refused([&](DynamicStruct::Builder wire, Field field) {
      wire.init(field, static_cast<unsigned>(size));
    });
  }
  void break_rule(const FieldRule& rule) {
    switch (rule.kind) {
      case Kind::open:
        return;
      case Kind::real:
        if (!rule.any) refused_value(kNan);
        if (!rule.any) refused_value(kInfinity);
        [[fallthrough]];
      case Kind::number:
        if (rule.least) refused_value(*rule.least - 1);
        if (rule.most) refused_value(*rule.most + 1);
        return;
      case Kind::time:
        if (rule.any) return;
        refused_value(static_cast<std::int64_t>(*rule.least) - 1);
        refused_value(static_cast<std::int64_t>(*rule.most) + kBeyond);
        return;
      case Kind::size:
        if (rule.least) refused_size(*rule.least - 1);
        if (rule.most) refused_size(*rule.most + 1);
        if (!rule.any) break_element();
        return;
      case Kind::enumerant:
        return refused([](DynamicStruct::Builder wire, Field field) {
          wire.set(field, capnp::DynamicEnum(field.getType().asEnum(), 0x7777));
        });
      case Kind::address:
        return refused([](DynamicStruct::Builder wire, Field field) {
          wire.get(field).as<DynamicStruct>().set("interface", 1);
        });
    }
  }
  /// Of a list of numbers: its type may refuse one.
  void break_element() {
    capnp::Type type;
    sample_message(*known_, [&](DynamicStruct::Builder wire) {
      at(wire, field_, [&](DynamicStruct::Builder, Field field) { type = field.getType(); });
    });
    if (!type.isList()) return;
    const auto element = type.asList().getElementType();
    capnp::DynamicValue::Reader wrong = kNan;
    if (element.isEnum()) {
      wrong = capnp::DynamicEnum(element.asEnum(), 0x7777);
    } else if (element.which() != SchemaType::FLOAT32) {
      return;
    }
    refused([&](DynamicStruct::Builder wire, Field field) {
      wire.get(field).as<DynamicList>().set(1, wrong);
    });
  }

  const Known* known_ = nullptr;
  std::string field_;
};

TEST_F(BrokenFields, AreEachRefusedByName) {
  for (const Known& known : every_message()) break_all(known);
  EXPECT_GT(broken_, 100);
}

/// What is allocated and not freed; 0 where a sanitizer allocates.
std::size_t allocated() { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; }

TEST_F(BrokenFields, AListAtItsBoundTakesLittleMoreThanItsBytes) {
  for (const Known& known : every_message()) {
    for (const FieldRule& rule : known.fields->rules) {
      if (rule.kind != Kind::size || !rule.most) continue;
      const Bytes sample = sample_message(known, [&](DynamicStruct::Builder wire) {
        at(wire, rule.field, [&](DynamicStruct::Builder inner, Field field) {
          inner.init(field, static_cast<unsigned>(*rule.most));
        });
      });
      const std::size_t before = allocated();
      const auto mail = detail::unpack_mail(sample.view(), *known.type);
      EXPECT_LE(allocated(), before + 16 * sample.size() + (1 << 20))
          << known.fields->message << "." << rule.field;
    }
  }
}

TEST_F(BrokenFields, WhatWouldTakeMemoryOrTimeIsBoundedAsWrittenHere) {
  constexpr double kHour = 3600e9;
  std::map<std::string, double> bounds = {
      {"ProbePeer.pings", 1000},        {"ProbePeer.loads", 1000},
      {"ProbePeer.loadBytes", 1 << 24}, {"ProbePeer.patience", kHour},
      {"ProbeLink.peers", 1000},        {"ProbeLink.upBytes", 1 << 24},
      {"ProbeLink.span", kHour},        {"Load.answerBytes", 1 << 24},
      {"ProbeCodecs.codecs", 16},       {"StatusReport.processes", 4096},
      {"Find.deadline", 8784 * kHour},  {"Shutdown.grace", 8784 * kHour},
      {"Offer.scalers", 1 << 20},       {"Push.packets", 4096}};
  for (const Known& known : every_message()) {
    for (const FieldRule& rule : known.fields->rules) {
      const auto bound = bounds.find(std::string(known.fields->message) + "." + rule.field);
      if (bound == bounds.end()) continue;
      EXPECT_EQ(rule.most, bound->second) << bound->first;
      bounds.erase(bound);
    }
  }
  EXPECT_TRUE(bounds.empty()) << bounds.begin()->first;
}

TEST_F(BrokenFields, OfTheSchemaNoneIsForgotten) {
  for (const Known& known : every_message()) {
    ASSERT_NE(known.fields, nullptr) << known.schema.getProto().getDisplayName().cStr();
    EXPECT_EQ(known.fields->complaint(), "");
  }
}

/// "loadbytes" of "loadBytes" and "load_bytes".
std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

TEST_F(BrokenFields, MembersHaveTheirFieldsNamesOrAreNamedHereSoThatNoTwoAreMistaken) {
  const std::map<std::string, std::string> others = {
      {"controlCredit", "credit[0]"},  {"dataCredit", "credit[1]"},
      {"deadline", "patience"},        {"nanoseconds", "duration"},
      {"actor", "notice.actor.local"}, {"interface", "interface_id"}};
  for (const Known& known : every_message()) {
    for (const FieldRule& rule : known.fields->rules) {
      const std::string field = rule.field.substr(rule.field.rfind('.') + 1);
      const auto other = others.find(field);
      if (other != others.end() && rule.member == other->second) continue;
      EXPECT_EQ(letters_of(rule.member.substr(rule.member.rfind('.') + 1)), letters_of(field))
          << known.fields->message;
    }
  }
}

TEST_F(BrokenFields, OfMessagesAllIsShownButWhatIsSecret) {
  Bootstrap bootstrap;
  bootstrap.run_name = "lenet";
  bootstrap.credentials = {"public", "hidden", "hidden too"};
  bootstrap.args = copy_bytes(std::string(100, 'x'));
  bootstrap.admit.resize(7);
  const std::string text = to_string(bootstrap);
  EXPECT_THAT(text, testing::StartsWith("Bootstrap{kind: actor, run: 0, runName: \"lenet\", "));
  EXPECT_THAT(text, HasSubstr("secretKey: (secret), token: (secret)"));
  EXPECT_THAT(text, HasSubstr("args: 100 bytes"));
  EXPECT_THAT(text, HasSubstr(", 3 more]"));
  EXPECT_THAT(text, testing::Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace sterna::fuzz
