#include "actors/job/messages.h"
#include "runtime/message/known_enum.h"

#include <cstring>

namespace sterna::actors {
namespace {

Error malformed(const char* what) { return {Errc::malformed, what}; }

}  // namespace

void Push::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setRank(rank);
  wire.setIncarnation(incarnation);
  wire.setEpoch(epoch);
  wire.setStep(step);
  wire.setBaseVersion(base_version);
  wire.setExamples(examples);
  wire.setKind(kind);
  auto list = wire.initPackets(static_cast<unsigned>(packets.size()));
  for (std::uint32_t i = 0; i < packets.size(); ++i) {
    auto packet = list[i];
    packet.setChunk(packets[i].chunk);
    packet.setCodec(packets[i].codec);
    packet.setScaler(packets[i].scaler);
    packet.setCount(packets[i].count);
    packet.adoptPayload(writer.data(packets[i].payload));
  }
}

Result<Push> Push::decode(Wire::Reader wire, WireReader& reader) {
  Push push;
  push.rank = wire.getRank();
  push.incarnation = wire.getIncarnation();
  push.epoch = wire.getEpoch();
  push.step = wire.getStep();
  push.base_version = wire.getBaseVersion();
  push.examples = wire.getExamples();
  push.kind = wire.getKind();
  if (!known_enum(push.kind)) return malformed("a push of unknown kind");
  const auto list = wire.getPackets();
  push.packets.reserve(list.size());
  for (const auto packet : list) {
    if (!known_enum(packet.getCodec())) return malformed("an unknown codec");
    push.packets.push_back({.chunk = packet.getChunk(),
                            .codec = packet.getCodec(),
                            .scaler = packet.getScaler(),
                            .count = packet.getCount(),
                            .payload = reader.bytes(packet.getPayload())});
  }
  return push;
}

void PushReply::encode(Wire::Builder wire, WireWriter&) const {
  auto list = wire.initVerdicts(static_cast<unsigned>(verdicts.size()));
  for (std::uint32_t i = 0; i < verdicts.size(); ++i) list.set(i, verdicts[i]);
}

Result<PushReply> PushReply::decode(Wire::Reader wire, WireReader&) {
  PushReply reply;
  const auto list = wire.getVerdicts();
  reply.verdicts.reserve(list.size());
  for (const Verdict verdict : list) {
    if (!known_enum(verdict)) return malformed("an unknown verdict");
    reply.verdicts.push_back(verdict);
  }
  return reply;
}

void Offer::encode(Wire::Builder wire, WireWriter&) const {
  wire.setRank(rank);
  wire.setIncarnation(incarnation);
  wire.setEpoch(epoch);
  wire.setStep(step);
  auto list = wire.initScalers(static_cast<unsigned>(scalers.size()));
  for (std::uint32_t i = 0; i < scalers.size(); ++i) {
    list[i].setIndex(scalers[i].index);
    list[i].setValue(scalers[i].value);
  }
}

Result<Offer> Offer::decode(Wire::Reader wire, WireReader&) {
  Offer offer;
  offer.rank = wire.getRank();
  offer.incarnation = wire.getIncarnation();
  offer.epoch = wire.getEpoch();
  offer.step = wire.getStep();
  const auto list = wire.getScalers();
  offer.scalers.reserve(list.size());
  for (const auto scaler : list) offer.scalers.push_back({scaler.getIndex(), scaler.getValue()});
  return offer;
}

void Agreed::encode(Wire::Builder wire, WireWriter&) const {
  auto list = wire.initValues(static_cast<unsigned>(values.size()));
  for (std::uint32_t i = 0; i < values.size(); ++i) list.set(i, values[i]);
}

Result<Agreed> Agreed::decode(Wire::Reader wire, WireReader&) {
  Agreed agreed;
  const auto list = wire.getValues();
  agreed.values.reserve(list.size());
  for (const float value : list) agreed.values.push_back(value);
  return agreed;
}

void Pull::encode(Wire::Builder wire, WireWriter&) const {
  wire.setVersion(version);
  auto list = wire.initChunks(static_cast<unsigned>(chunks.size()));
  for (std::uint32_t i = 0; i < chunks.size(); ++i) list.set(i, chunks[i]);
  wire.setKind(kind);
  wire.setCodec(codec);
}

Result<Pull> Pull::decode(Wire::Reader wire, WireReader&) {
  Pull pull;
  pull.version = wire.getVersion();
  const auto list = wire.getChunks();
  pull.chunks.reserve(list.size());
  for (const std::uint32_t chunk : list) pull.chunks.push_back(chunk);
  pull.kind = wire.getKind();
  pull.codec = wire.getCodec();
  if (!known_enum(pull.kind)) return malformed("a pull of unknown kind");
  if (!known_enum(pull.codec)) return malformed("an unknown codec");
  return pull;
}

void Parameters::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setVersion(version);
  wire.setKind(kind);
  auto list = wire.initChunks(static_cast<unsigned>(chunks.size()));
  for (std::uint32_t i = 0; i < chunks.size(); ++i) {
    list[i].setChunk(chunks[i].chunk);
    list[i].setCodec(chunks[i].codec);
    list[i].adoptPayload(writer.data(chunks[i].payload));
    list[i].setScaler(chunks[i].scaler);
  }
  wire.setRanks(ranks);
  auto numbers = wire.initConstants(static_cast<unsigned>(constants.size()));
  for (std::uint32_t i = 0; i < constants.size(); ++i) numbers.set(i, constants[i]);
}

Result<Parameters> Parameters::decode(Wire::Reader wire, WireReader& reader) {
  Parameters parameters;
  parameters.version = wire.getVersion();
  parameters.kind = wire.getKind();
  if (!known_enum(parameters.kind)) {
    return malformed("parameters of unknown kind");
  }
  const auto list = wire.getChunks();
  parameters.chunks.reserve(list.size());
  for (const auto chunk : list) {
    if (!known_enum(chunk.getCodec())) return malformed("an unknown codec");
    parameters.chunks.push_back(
        {chunk.getChunk(), chunk.getCodec(), reader.bytes(chunk.getPayload()), chunk.getScaler()});
  }
  parameters.ranks = wire.getRanks();
  for (const float constant : wire.getConstants()) parameters.constants.push_back(constant);
  return parameters;
}

void Compare::encode(Wire::Builder wire, WireWriter&) const {
  wire.setVersion(version);
  auto list = wire.initChunks(static_cast<unsigned>(chunks.size()));
  for (std::uint32_t i = 0; i < chunks.size(); ++i) {
    list[i].setChunk(chunks[i].chunk);
    auto hash = list[i].initHash(static_cast<unsigned>(chunks[i].hash.size()));
    std::memcpy(hash.begin(), chunks[i].hash.data(), hash.size());
  }
}

Result<Compare> Compare::decode(Wire::Reader wire, WireReader&) {
  Compare compare;
  compare.version = wire.getVersion();
  for (const auto chunk : wire.getChunks()) {
    Fingerprint& one = compare.chunks.emplace_back(Fingerprint{chunk.getChunk(), {}});
    const auto hash = chunk.getHash();
    if (hash.size() != one.hash.size()) return malformed("a hash of another size");
    std::memcpy(one.hash.data(), hash.begin(), one.hash.size());
  }
  return compare;
}

void Release::encode(Wire::Builder wire, WireWriter&) const { wire.setVersion(version); }

Result<Release> Release::decode(Wire::Reader wire, WireReader&) {
  return Release{wire.getVersion()};
}

void NextBatch::encode(Wire::Builder wire, WireWriter&) const {
  wire.setStep(step);
  wire.setRank(rank);
}

Result<NextBatch> NextBatch::decode(Wire::Reader wire, WireReader&) {
  return NextBatch{wire.getStep(), wire.getRank()};
}

void Batch::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.setStep(step);
  wire.setRank(rank);
  wire.adoptImages(writer.data(images));
  wire.adoptLabels(writer.data(labels));
  auto list = wire.initRows(static_cast<unsigned>(rows.size()));
  for (unsigned i = 0; i < rows.size(); ++i) list.set(i, rows[i]);
  wire.setExamples(of.examples);
  wire.setDataset(of.dataset);
}

Result<Batch> Batch::decode(Wire::Reader wire, WireReader& reader) {
  Batch batch;
  batch.step = wire.getStep();
  batch.rank = wire.getRank();
  batch.images = reader.bytes(wire.getImages());
  batch.labels = reader.bytes(wire.getLabels());
  for (const std::uint32_t row : wire.getRows()) batch.rows.push_back(row);
  batch.of = {wire.getExamples(), wire.getDataset()};
  if (batch.labels.size() % sizeof(std::uint16_t) != 0) {
    return Error{Errc::malformed, "half a label"};
  }
  return batch;
}

std::vector<std::uint16_t> labels_of(const Batch& batch) {
  std::vector<std::uint16_t> labels(batch.labels.size() / sizeof(std::uint16_t));
  std::memcpy(labels.data(), batch.labels.data(), labels.size() * sizeof(std::uint16_t));
  return labels;
}

}  // namespace sterna::actors
