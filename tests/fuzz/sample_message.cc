#include "tests/fuzz/sample_message.h"

#include <capnp/message.h>
#include <kj/string.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "launcher/bench/actors/messages.h"
#include "runtime/message/packed_message.h"

namespace sterna::fuzz {
namespace {

using capnp::DynamicList;
using capnp::DynamicStruct;

constexpr unsigned kElements = 2;

class Filler {
 public:
  void fill(DynamicStruct::Builder wire) {
    for (const auto field : wire.getSchema().getFields()) fill_field(wire, field);
  }

 private:
  capnp::DynamicValue::Reader scalar(capnp::Type type) {
    ++last_;
    switch (type.which()) {
      case capnp::schema::Type::BOOL:
        return true;
      case capnp::schema::Type::FLOAT32:
      case capnp::schema::Type::FLOAT64:
        return last_ + 0.5;
      case capnp::schema::Type::ENUM:
        return capnp::DynamicEnum(
            type.asEnum(), static_cast<std::uint16_t>(type.asEnum().getEnumerants().size() - 1));
      default:
        return std::uint64_t{last_};
    }
  }
  capnp::Text::Reader text(const char* name) {
    text_ = name + std::to_string(++last_);
    return {text_.c_str(), text_.size()};
  }
  void fill_field(DynamicStruct::Builder wire, capnp::StructSchema::Field field) {
    const capnp::Type type = field.getType();
    switch (type.which()) {
      case capnp::schema::Type::TEXT:
        wire.set(field, text(field.getProto().getName().cStr()));
        return;
      case capnp::schema::Type::DATA: {
        auto data = wire.init(field, sizeof(actors::Hash)).as<capnp::Data>();
        for (auto& byte : data) byte = static_cast<kj::byte>(++last_);
        return;
      }
      case capnp::schema::Type::LIST:
        return fill_list(wire.init(field, kElements).as<DynamicList>(), type.asList());
      case capnp::schema::Type::STRUCT:
        return fill(wire.init(field).as<DynamicStruct>());
      default:
        wire.set(field, scalar(type));
    }
  }
  void fill_list(DynamicList::Builder list, capnp::ListSchema type) {
    for (unsigned i = 0; i < list.size(); ++i) {
      if (type.getElementType().isStruct()) {
        fill(list[i].as<DynamicStruct>());
      } else if (type.getElementType().isText()) {
        list.set(i, text("element"));
      } else {
        list.set(i, scalar(type.getElementType()));
      }
    }
  }

  std::string text_;
  std::uint32_t last_ = 0;
};

/// The job's part that no schema describes.
std::string some_sections() {
  actors::JobConfig job;
  job.net = "lenet";
  job.steps = 20;
  capnp::MallocMessageBuilder message;
  auto wire = message.initRoot<actors::JobConfig::Wire>();
  WireWriter writer(message.getOrphanage());
  job.encode(wire, writer);
  const auto sections = wire.asReader().getSections();
  return {sections.begin(), sections.size()};
}

/// What actors' arguments must agree in.
void settle_job(DynamicStruct::Builder wire) {
  auto job = wire.get("job").as<DynamicStruct>();
  job.set("sections", capnp::Text::Reader(some_sections().c_str()));
  job.set("ranks", 2);
  job.set("averagedRanks", 1);
  job.set("shards", 2);
  job.set("firstStep", 1);
  job.set("rows", 32);
  job.set("columns", 24);
  job.set("channels", 3);
  const auto schema = wire.getSchema();
  const auto set = [&](const char* field, unsigned value) {
    if (schema.findFieldByName(field) != nullptr) wire.set(field, value);
  };
  set("index", 1);
  set("shard", 1);
  if (schema.findFieldByName("servers") != nullptr &&
      !schema.getFieldByName("servers").getType().isList()) {
    wire.set("servers", 2);
  }
  set("firstRank", 1);
  if (schema.findFieldByName("ranks") != nullptr) wire.set("ranks", 1);
  if (schema.findFieldByName("workers") != nullptr) {
    auto workers = wire.get("workers").as<DynamicList>();
    for (unsigned i = 0; i < workers.size(); ++i) {
      workers[i].as<DynamicStruct>().set("firstRank", i);
      workers[i].as<DynamicStruct>().set("ranks", 1);
    }
  }
}

void settle(DynamicStruct::Builder wire) {
  if (wire.getSchema().findFieldByName("job") != nullptr &&
      wire.getSchema().getFieldByName("job").getType().isStruct()) {
    settle_job(wire);
  }
  if (wire.getSchema().getProto().getId() == capnp::typeId<actors::Evaluated::Wire>()) {
    wire.set("classes", 100);
  }
  if (wire.getSchema().getProto().getId() == capnp::typeId<actors::Watched::Wire>()) {
    auto pictures = wire.get("pictures").as<DynamicList>();
    for (unsigned i = 0; i < pictures.size(); ++i) {
      auto picture = pictures[i].as<DynamicStruct>();
      picture.set("rows", 1);
      picture.set("columns", picture.get("pixels").as<capnp::Data>().size());
      picture.set("channels", 1);
    }
  }
  if (wire.getSchema().getProto().getId() == capnp::typeId<launcher::Drive::Wire>()) {
    auto targets = wire.get("targets").as<DynamicList>();
    for (unsigned i = 0; i < targets.size(); ++i) {
      targets[i].as<DynamicStruct>().set("interface", launcher::EchoInterface::type_id());
    }
  }
}

}  // namespace

Bytes sample_message(const Known& known, const Change& change) {
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = known.type->type_id;
  const auto write = [&](auto& envelope, WireWriter&) {
    auto wire = envelope.initBody().template initAs<DynamicStruct>(known.schema);
    Filler().fill(wire);
    settle(wire);
    if (change) change(wire);
  };
  return detail::pack_frames(encoder.encode(header, write).value());
}

Result<Bytes> sent_on(const Known& known, const Bytes& packed) {
  STERNA_ASSIGN(const std::unique_ptr<Mail> mail, detail::unpack_mail(packed.view(), *known.type));
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = known.type->type_id;
  const auto write = [&](auto& envelope, WireWriter& writer) {
    mail->encode_body(envelope, writer);
  };
  STERNA_ASSIGN(const auto frames, encoder.encode(header, write));
  return detail::pack_frames(frames);
}

std::string values_of(const Known& known, const Bytes& packed) {
  // As pack_frames() lays them out: the number of frames, the size of each, the frames.
  const auto number = [&](std::size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, packed.data() + index * sizeof(value), sizeof(value));
    return value;
  };
  std::vector<std::vector<capnp::word>> frames;
  std::size_t at = sizeof(std::uint32_t) * (1 + number(0));
  for (std::size_t i = 0; i < number(0); ++i) {
    const std::size_t size = number(1 + i);
    frames.emplace_back(size / sizeof(capnp::word));
    std::memcpy(static_cast<void*>(frames.back().data()), packed.data() + at, size);
    at += size;
  }
  std::vector<kj::ArrayPtr<const capnp::word>> segments;
  for (const auto& frame : frames) segments.emplace_back(frame.data(), frame.size());
  capnp::SegmentArrayMessageReader reader(kj::arrayPtr(segments.data(), segments.size()));
  const auto body = reader.getRoot<schema::Envelope>().getBody();
  return kj::str(body.getAs<DynamicStruct>(known.schema)).cStr();
}

}  // namespace sterna::fuzz
