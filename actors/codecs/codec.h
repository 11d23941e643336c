// Codecs: how gradients travel. Each is one file (fp32.cc, ...), which has its format and what it
// trusts of a peer's bytes, and one line in codec.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/codecs/codec.capnp.h"
#include "kernels/isa/isa.h"
#include "kernels/sums/aggregate.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::actors {

using schema::Codec;

/// What a job chooses of a codec beside its name; without a choice, what takes the most room.
struct PackChoices {
  std::uint32_t bits = 8;  ///< an element, of rowwise: 1, 2, 4 or 8
  double density = 1;      ///< the part of each 65,536 elements that topk sends
};

/// What of a gradient is packed: `count` elements. Trits may be sums over several ranks on their
/// way down (kernels/sums/sums.h).
struct Packed {
  std::size_t count = 0;
  std::uint32_t ranks = 1;
  PackChoices choices = {};
};

/// Whose numbers are packed: what a stochastic codec's draws depend on.
struct PackContext {
  kernels::TernaryDraw draw = {};
  std::uint64_t first = 0;  ///< the index of the first number within its tensor
  PackChoices choices = {};
};

struct GradientCodec {
  std::string_view name;                              ///< in the cluster file
  Codec wire = Codec::FP32;                           ///< on the wire
  kernels::Packing packing = kernels::Packing::fp32;  ///< what open() gives to the kernels
  bool lossy = false;
  bool biased = false;  ///< what arrives is wrong on average, too: it needs error feedback

  /// The most bytes that seal() or pack() write; what they overwrite behind their result included.
  std::size_t (*room)(Packed what);
  /// Packs numbers; returns how many bytes. Null where the packing is planes: those are made under
  /// a scaler (kernels/trits/encode.h), then sealed.
  std::size_t (*pack)(std::span<const float> values, const PackContext& context, MutableBytes out,
                      kernels::Isa isa) = nullptr;
  /// Makes planes into what travels; returns how many bytes. Null where planes travel as they are.
  std::size_t (*seal)(ByteView planes, Packed what, MutableBytes out, kernels::Isa isa) = nullptr;
  /// Checks a peer's payload and undoes seal(), or makes fp32 of what no kernel reads as it is. Any
  /// bytes give a value that the kernels can take, or Errc::malformed or Errc::non_finite, in
  /// memory bounded by what.count and what.ranks.
  Result<Bytes> (*open)(const Bytes& payload, Packed what, BufferPool& pool,
                        kernels::Isa isa) = nullptr;

  bool ternary() const { return packing == kernels::Packing::planes; }
};

/// The codec of that byte on the wire, which known_enum has let pass.
GradientCodec codec_of(Codec wire);
std::optional<GradientCodec> find_codec(std::string_view name);
/// The wire's name for the codec that a checked job names.
Codec codec_named(std::string_view name);
/// Whether there is such a codec, and it makes trits.
bool makes_trits(std::string_view name);
std::vector<std::string_view> codec_names();

}  // namespace sterna::actors
