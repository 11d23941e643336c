#include "actors/encode/residuals.h"

#include <algorithm>
#include <atomic>
#include <cassert>

#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kLine = 64;

std::size_t lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

std::size_t bytes_of_stamps(const ParameterTable& table) {
  return lines(2 * table.tensors.size() * sizeof(std::uint64_t));
}

}  // namespace

bool Residuals::has(const JobConfig& job, const TableTensor& tensor) {
  return job.gradient.error_feedback && !tensor.frozen && codec_of(tensor.codec).lossy;
}

std::size_t Residuals::bytes_of(const JobConfig& job, const ParameterTable& table) {
  std::size_t bytes = bytes_of_stamps(table);
  for (const TableTensor& tensor : table.tensors) {
    if (has(job, tensor)) bytes += 2 * lines(tensor.count * sizeof(float));
  }
  return bytes;
}

Residuals::Residuals(const JobConfig& job, const ParameterTable& table)
    : tensors_(table.tensors.size()), own_(table.tensors.size()) {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (!has(job, table.tensors[t])) continue;
    own_[t].resize(table.tensors[t].count);
    tensors_[t].values.fill(own_[t]);
  }
}

Residuals::Residuals(const JobConfig& job, const ParameterTable& table,
                     const KeptMemory::Region& memory, std::size_t first)
    : tensors_(table.tensors.size()), own_(table.tensors.size()), owner_(memory.owner) {
  assert(first % kLine == 0 && first + bytes_of(job, table) <= memory.bytes.size());
  std::byte* const start = memory.bytes.data() + first;
  auto* stamps = reinterpret_cast<std::uint64_t*>(start);
  std::byte* values = start + bytes_of_stamps(table);
  for (const std::size_t parity : {0, 1}) {
    for (std::size_t t = 0; t < tensors_.size(); ++t, ++stamps) {
      const TableTensor& tensor = table.tensors[t];
      if (!has(job, tensor)) continue;
      tensors_[t].stamps[parity] = stamps;
      tensors_[t].values[parity] = {reinterpret_cast<float*>(values), tensor.count};
      values += lines(tensor.count * sizeof(float));
    }
  }
}

void Residuals::look_at(std::uint64_t parity) {
  for (Tensor& tensor : tensors_) {
    tensor.parity = parity;
    tensor.beside = {};
  }
}

void Residuals::begin(std::uint64_t step) {
  stamp_ = step + 1;
  look_at(step % 2);
}

void Residuals::open(std::uint32_t tensor) {
  std::uint64_t* const stamp = tensors_[tensor].stamp();
  if (stamp == nullptr) return;
  if (std::atomic_ref(*stamp).load(std::memory_order_acquire) == stamp_) {
    own_[tensor].resize(tensors_[tensor].newest().size());
    tensors_[tensor].beside = own_[tensor];
    return;
  }
  // What acquires is followed by all that comes behind it: no value is written before this.
  (void)std::atomic_ref(*stamp).exchange(0, std::memory_order_acq_rel);
}

void Residuals::stamp(std::uint32_t tensor) {
  std::uint64_t* const stamp = tensors_[tensor].stamp();
  // Behind the values: who finds the stamp finds them, however this process ends.
  if (stamp == nullptr || !tensors_[tensor].beside.empty()) return;
  std::atomic_ref(*stamp).store(stamp_, std::memory_order_release);
}

void Residuals::settle(const ParameterTable& table, std::span<const std::uint32_t> repeated) {
  for (std::uint32_t c = 0; c < table.chunks.size(); ++c) {
    const TableChunk& chunk = table.chunks[c];
    const Tensor& tensor = tensors_[chunk.tensor];
    if (tensor.beside.empty() || std::ranges::count(repeated, c) > 0) continue;
    const auto mine = std::span(tensor.beside).subspan(chunk.first, chunk.count);
    std::ranges::copy(mine, tensor.values[tensor.parity].subspan(chunk.first).begin());
  }
  for (Tensor& tensor : tensors_) tensor.beside = {};
}

bool Residuals::whole_for(std::uint64_t step) {
  look_at((step + 1) % 2);
  return std::ranges::all_of(tensors_, [&](const Tensor& tensor) {
    if (tensor.newest().empty()) return true;
    std::uint64_t* const stamp = tensor.stamp();
    return stamp != nullptr && std::atomic_ref(*stamp).load(std::memory_order_acquire) == step;
  });
}

void Residuals::zero_before(std::uint64_t step) {
  start_at(step);
  for (Tensor& tensor : tensors_) {
    std::uint64_t* const own = tensor.stamps[1 - tensor.parity];
    if (tensor.stamp() == nullptr) continue;
    // Of a worker that was here once before: what it left of `step` is not what this one will.
    std::atomic_ref(*own).store(0, std::memory_order_release);
    std::atomic_ref(*tensor.stamp()).store(step, std::memory_order_release);
  }
}

void Residuals::start_at(std::uint64_t step) {
  look_at((step + 1) % 2);
  for (Tensor& tensor : tensors_) std::ranges::fill(tensor.newest(), 0.0F);
}

}  // namespace sterna::actors
