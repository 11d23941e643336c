// ParameterTable: which tensors a net has, how each one's gradient travels, and which server keeps
// which part. Every actor of a job derives the same table from the same net and JobConfig.
//
// Tensors are cut into units of 65,536 elements. Up to four neighbouring units of one tensor are a
// chunk (at most 1 MB of fp32), which is what packets, versions and pulls speak of. Chunks, in the
// order of the table, are dealt to the servers in turn, balanced by bytes: a rank has something for
// each of them at any time, so that no link waits for another.
// Where each unit has a scaler of its own (a bucket, or one on its way down), it is a chunk too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "kernels/isa/isa.h"
#include "nets/tensor/parameter.h"

namespace sterna::actors {

inline constexpr std::uint64_t kUnitElements = 65536;
inline constexpr std::uint64_t kUnitsPerChunk = 4;

/// What of a version somebody asks for.
enum class Pulled {
  all,       ///< as the evaluator does
  trained,   ///< as workers do first: training reads no statistics
  changing,  ///< ... and from then on: what is frozen they have
  pushed     ///< what gradients or statistics are pushed of
};

struct TableTensor {
  nets::ParameterSpec spec;
  Codec codec = Codec::FP32;  ///< of its gradient
  bool ternary = false;       ///< whether that makes trits
  bool frozen = false;        ///< it stays as it is: no gradient of it travels
  std::uint64_t count = 0;
  bool pulled(Pulled what) const {
    if (what == Pulled::all) return true;
    if (what == Pulled::pushed) return !frozen;
    return spec.role != nets::Role::statistic && !(frozen && what == Pulled::changing);
  }
  std::uint32_t first_chunk = 0;  ///< its chunks are neighbours
  std::uint32_t chunks = 0;
};

struct TableChunk {
  std::uint32_t tensor = 0;
  std::uint64_t first = 0;  ///< its first element's index within the tensor
  std::uint64_t count = 0;
  std::uint32_t shard = 0;
  std::uint32_t scaler = 0;  ///< of a ternarized tensor: its place in the table's scalers
};

/// What one scaler is of: a whole ternarized tensor, or a bucket of it.
struct TableScaler {
  std::uint32_t tensor = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint32_t shard = 0;  ///< whose server the ranks agree at, if they do
};

/// The scalers of one tensor, [first, last) of the table's; none where it makes no trits.
struct TableScalers {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct ParameterTable {
  std::vector<TableTensor> tensors;
  std::vector<TableChunk> chunks;
  std::vector<TableScaler> scalers;  ///< in the order of the tensors
  std::uint32_t shards = 1;
  std::uint64_t elements = 0;

  ParameterTable() = default;
  ParameterTable(const std::vector<nets::ParameterSpec>& specs, const JobConfig& job,
                 std::uint32_t servers);

  /// The codec of a tensor's gradient of one step.
  Codec codec_at(std::uint32_t tensor, const JobConfig& job, std::uint64_t step) const {
    return job.floats(step) ? Codec::FP32 : tensors[tensor].codec;
  }
  /// And of the average that leads to `version`, above 0.
  Codec codec_down(std::uint32_t tensor, const JobConfig& job, std::uint64_t version) const;
  std::vector<std::uint32_t> chunks_of(std::uint32_t shard) const;
  std::span<const TableChunk> chunks_of(const TableTensor& tensor) const {
    return std::span(chunks).subspan(tensor.first_chunk, tensor.chunks);
  }
  bool frozen(std::uint32_t chunk) const { return tensors[chunks[chunk].tensor].frozen; }

  /// The chunks of each pull, which is of one shard and at most 1 MB of fp32: a large chunk by
  /// itself, the last first, as the backward pass completes them; small ones together, but frozen
  /// ones apart: those travel as fp32 always, as no step has rounded them.
  struct PullGroup {
    std::uint32_t shard = 0;
    bool frozen = false;
    std::vector<std::uint32_t> chunks;
  };
  std::vector<PullGroup> pull_groups(Pulled what) const;
};

std::vector<TableScalers> scalers_by_tensor(const ParameterTable& table);

/// Of a chunk's parameters and the optimizer's slots, where it has any, as fp32.
std::uint64_t state_bytes(std::uint32_t chunk, const ParameterTable& table, const JobConfig& job);

/// The most bytes of payload that an answer to the question has.
std::uint64_t most_bytes(const Pull& question, const ParameterTable& table, const JobConfig& job);

/// A server's answer to a question, if it is one: exactly the chunks asked for, whole, and numbers
/// that a step can be made with. The payloads are opened. Errors: malformed, non_finite.
Result<Parameters> open_answer(Parameters answer, const Pull& question, const ParameterTable& table,
                               const JobConfig& job, BufferPool& pool, kernels::Isa isa);

}  // namespace sterna::actors
