#include "actors/worker/ranks/incoming_version.h"

#include <cstring>
#include <span>
#include <utility>

namespace sterna::actors {

IncomingVersion::IncomingVersion(std::shared_ptr<Replica> replica,
                                 std::shared_ptr<const ParameterTable> table, const Clock& clock,
                                 WorkerTrace trace, std::uint64_t first,
                                 std::function<void()> wrote)
    : replica_(std::move(replica)),
      table_(std::move(table)),
      clock_(clock),
      trace_(std::move(trace)),
      wrote_(std::move(wrote)),
      bases_(table_->chunks.size(), first),
      written_(table_->chunks.size()) {}

void IncomingVersion::expect(Pulled what) {
  missing_.clear();
  for (const TableTensor& tensor : table_->tensors) {
    missing_.push_back(tensor.pulled(what) ? tensor.chunks : 0);
  }
  readable_ = 0;
}

void IncomingVersion::take(const std::shared_ptr<const Parameters>& answer) {
  for (std::size_t i = 0; i < answer->chunks.size(); ++i) {
    waiting_.push_back({answer, i});
    bases_[answer->chunks[i].chunk] = answer->chunks[i].version;
  }
  write_settled();
}

void IncomingVersion::step(std::uint32_t tensor, std::uint64_t step) {
  steps_.push_back({tensor, step});
  write_settled();
}

bool IncomingVersion::write(const Waiting& waiting, std::uint32_t settled) {
  const std::uint32_t chunk = waiting.answer->chunks[waiting.index].chunk;
  const std::uint32_t tensor = table_->chunks[chunk].tensor;
  if (tensor < settled) return false;
  replica_->take(*waiting.answer, waiting.index, local_);
  --missing_[tensor];
  written_[chunk] = waiting.answer->version;
  return true;
}

void IncomingVersion::write_settled() {
  const std::uint32_t settled = replica_->settled();
  const bool noted = trace_.wants(step_);
  const Time began = noted ? trace_.now() : Time();
  const std::size_t wrote =
      std::erase_if(waiting_, [&](const Waiting& one) { return write(one, settled); });
  if (wrote > 0) wrote_();
  if (wrote > 0 && noted) trace_.applied(step_, began);
  for (const Step& one : std::exchange(steps_, {})) {
    if (one.tensor < settled) {
      steps_.push_back(one);
      continue;
    }
    replica_->step(one.tensor, one.step);
    missing_[one.tensor] = 0;
  }
  const std::uint32_t before = readable_;
  while (readable_ < missing_.size() && missing_[readable_] == 0) ++readable_;
  if (before == 0 && readable_ > 0) readable_since_ = clock_.now();
  if (readable_ > before) ready_.notify_all();
}

std::optional<ChunkCopy> IncomingVersion::copy(const CopyChunk& question) const {
  if (written_[question.chunk] != question.from) return std::nullopt;
  const TableChunk& place = table_->chunks[question.chunk];
  std::vector<std::span<float>> arrays = replica_->slots(question.chunk);
  arrays.insert(arrays.begin(), replica_->values(place));
  const std::size_t bytes = place.count * sizeof(float);
  const auto values = make_buffer(arrays.size() * bytes);
  std::byte* to = values->bytes().data();
  for (const std::span<float> array : arrays) {
    std::memcpy(to, array.data(), bytes);
    to += bytes;
  }
  return ChunkCopy{
      .version = question.from, .values = share(values), .residual = {}, .snapshots = {}};
}

}  // namespace sterna::actors
