// The arithmetic of gradients on a device: statistics and trits are made there, on a stream of its
// own that waits for each gradient and for nothing else, so that the backward pass goes on
// meanwhile; what reaches the host are the packets' bytes and a few numbers. The bytes come to
// pinned memory, from which they are sent as they are, unless a codec makes something else of them.
//
// Gradients that are given at once share launches: one serves all of them that lie side by side in
// the tables, and of which the same is wanted. Nothing waits for a gradient that comes by itself.
//
// With error feedback what the codec leaves stays on the device, too (device_residuals.h). Of a
// job whose workers come again it is on the host before the last packet of its step leaves, so that
// nobody can go on behind a step of which it is lost; where ranks are not in step, before any
// packet of its tensor does.
//
// What the device has no pass for (other codecs, scalers by bucket) is done on the host, by
// HostArithmetic, with a gradient that was copied there.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/codecs/codec.h"
#include "actors/encode/device_residuals.h"
#include "actors/encode/encode_arithmetic.h"
#include "actors/encode/host_arithmetic.h"
#include "actors/encode/pinned_packets.h"
#include "kernels/device/tables.h"

namespace sterna::actors {

/// Where a rank's packet of a tensor stays, in a device's memory.
struct PacketPlace {
  std::byte* payload = nullptr;  ///< planes, bf16s, or fp32s
  float* scaler = nullptr;  ///< of planes: under which their trits are drawn, and, of those that
                            ///< stay, what they stand for once they are there
};

class DeviceArithmetic final : public EncodeArithmetic {
 public:
  /// Of what is trained, in steps in which it is packed so: as the tensor's codec does, or as fp32.
  /// Where there is such, its packets do not come to the host: they are fp32, bf16s, or planes with
  /// the tensor's one scaler, and nothing else.
  using Places = std::function<PacketPlace(std::uint32_t tensor, kernels::Packing packing)>;

  /// `host` does the rest. `copies`: what is kept is copied, on the device. `places` may be null.
  /// Errors: the device's.
  static Result<std::unique_ptr<DeviceArithmetic>> make(
      const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
      std::shared_ptr<const ParameterTable> table, std::shared_ptr<kernels::Device> device,
      std::unique_ptr<HostArithmetic> host, bool copies = false, Places places = nullptr);
  ~DeviceArithmetic() override;
  DeviceArithmetic(const DeviceArithmetic&) = delete;
  DeviceArithmetic& operator=(const DeviceArithmetic&) = delete;

  Result<void> expect(std::span<const Expected> gradients) override;
  void begin(std::uint64_t step) override;
  /// What has become of earlier orders is told first.
  Result<void> start(const Order& order, Listener& listener) override;
  void gather() override { ++gathering_; }
  Result<void> launch() override;
  Result<void> finish(Listener& listener) override;
  nets::Gradient keep(std::uint32_t tensor, const nets::Gradient& gradient) override;
  Result<std::vector<std::vector<float>>> residuals() override;
  void restore(const std::vector<std::vector<float>>& residuals) override;
  Result<void> give_back(const Packet& packet) override;
  void settle(std::span<const std::uint32_t> repeated) override;

 private:
  /// Where one of a tensor's gradients may lie: a row of tables of many.
  struct Row {
    const float* gradient = nullptr;
    std::uint32_t plan = 0;   // of plans_
    std::uint32_t index = 0;  // among the plan's tensors
  };
  /// Of one tensor; all is made when it is expected, or first needed.
  struct Tensor {
    std::vector<Row> rows;
    std::uint32_t slot = 0;  // among the numbers that come with others' (found_here_, ...)
    std::unique_ptr<kernels::DeviceEvent> done;
    kernels::DeviceArray<float> copy;
    kernels::PinnedArray<float> values_here;  // what the host encodes
  };
  /// What is done with gradients of which the same is wanted.
  struct Passes {
    bool ternary = false;
    bool floats = false;
    bool takes_in = false;
    bool feeds_back = false;
    bool given = false;  // its scalers
    bool measures = false;
    bool packs = false;
    bool stays = false;
    auto operator<=>(const Passes&) const = default;
  };
  /// An order that is not told of yet.
  struct UnderWay {
    Order order;
    kernels::DeviceEvent* done = nullptr;  // null: it is not launched yet
  };
  /// One that is to be launched.
  struct Ready {
    UnderWay* of = nullptr;
    std::size_t turn = 0;  // in which it will be told of
    std::uint32_t plan = 0;
    std::uint32_t row = 0;  // of the plan
    Passes passes;
    std::uint32_t tensor() const { return of->order.tensor; }
  };
  /// Some of the same plan and passes, of tensors side by side.
  using Run = std::span<const Ready>;
  DeviceArithmetic(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                   std::shared_ptr<const ParameterTable> table,
                   std::shared_ptr<kernels::Device> device, std::unique_ptr<HostArithmetic> host,
                   bool copies, Places places);

  /// Whether the tensor's packets stay on the device.
  bool stays(std::uint32_t tensor) const {
    return places_ != nullptr && table_->tensors[tensor].spec.role != nets::Role::statistic;
  }
  /// Where the device makes the tensor's packets, by its own codec, and in this step.
  PacketPlace place_of(std::uint32_t tensor) const;
  PacketPlace place_now(std::uint32_t tensor) const;
  /// Whether the device makes packets by this codec, and keeps what it leaves.
  bool encodes(const GradientCodec& codec) const;
  /// Whether what is left of the tensor lies on the device. Also in a step in which it travels as
  /// fp32.
  bool feeds_back(std::uint32_t tensor) const {
    return host_->kept_residuals().has(tensor) && encodes(codec_of(table_->tensors[tensor].codec));
  }
  /// Whether the device makes this step's packets of the tensor.
  bool here(std::uint32_t tensor) const;
  GradientCodec codec(std::uint32_t tensor) const {
    return codec_of(table_->codec_at(tensor, job_, step_));
  }
  /// Whether it travels in this step as fp32 that were fetched, with what was left of it.
  bool fetched(std::uint32_t tensor) const {
    return !stays(tensor) && codec(tensor).packing == kernels::Packing::fp32;
  }
  float clip() const { return static_cast<float>(job_.gradient.clip); }
  /// Whether it always travels as fp32 of which nothing is left, which come here and go.
  bool plain(std::uint32_t tensor) const {
    return !stays(tensor) && !host_->kept_residuals().has(tensor) &&
           codec_of(table_->tensors[tensor].codec).wire == Codec::FP32;
  }
  /// Whether the device makes packets of the tensor in some step.
  bool passes(std::uint32_t tensor) const {
    return stays(tensor) || encodes(codec_of(table_->tensors[tensor].codec));
  }

  // ---- device_arithmetic.cc: what is made before the first step, and what comes back ----

  /// Gives each tensor its place among all, those that are launched together side by side.
  Result<void> lay_out();
  Result<void> make_values_here(std::uint32_t tensor);
  Result<void> make_copy(std::uint32_t tensor);
  /// Tables of gradients of distinct tensors, those of bf16s apart.
  Result<void> make_plans(std::span<const Expected> gradients);
  Result<void> make_plan(std::vector<Expected>& gradients, float clip);
  Result<Row> row_of(const Order& order);
  /// Until this has passed, or nothing more is to be landed.
  Result<void> land_before(kernels::DeviceEvent& passes);
  /// Tells what the oldest order came to, which the device has done.
  Result<void> tell(Listener& listener);
  Result<void> tell_here(const Order& order, Listener& listener);
  /// Errors: those that the host, or a server, would have of the gradient or of what was made of
  /// it.
  Result<void> check_finite(const Order& order, const kernels::TensorMeasured& found);
  /// From the device, which has done all that was put on its way then.
  template <class T>
  Result<void> fetch_now(const T* from, std::span<T> to);

  // ---- device_arithmetic_launches.cc: what is put on the stream ----

  Passes passes_of(const Order& order) const;
  bool side_by_side(const Ready& one, const Ready& next) const;
  /// Of all orders that are not launched yet. After an error they are forgotten.
  Result<void> launch_ready();
  Result<void> launch_all(std::vector<Ready>& ready);
  Result<void> launch_run(Run run);
  Result<void> put_trits(Run run);
  /// `from`: theirs, one after the other.
  Result<void> put_scalers(Run run, const float* from);
  Result<void> put_fed_back(Run run);
  Result<void> put_numbers(Run run);
  Result<void> download(Run run);
  Result<void> fetch(const Order& order);
  Result<void> fetch_floats(std::uint32_t tensor, std::span<const float> from);

  // ---- device_arithmetic_packing.cc ----

  /// What codecs have made of a tensor's payloads, one behind the other.
  struct Sealed {
    std::shared_ptr<Buffer> buffer = nullptr;
    std::size_t bytes = 0;
  };
  /// Of so many elements, before they are sealed.
  static std::size_t bytes_made(const GradientCodec& codec, std::size_t elements) {
    return codec.ternary() ? kernels::planes_bytes(elements) : codec.room({.count = elements});
  }
  /// What has come of the tensor in this step, in pinned memory.
  Bytes made_of(std::uint32_t tensor) const;
  Result<void> pack(std::uint32_t tensor, float scaler, Listener& listener);
  Sealed room_for(const GradientCodec& codec, std::span<const TableChunk> chunks);
  Bytes seal(const GradientCodec& codec, ByteView made, const TableChunk& chunk, Sealed& to) const;
  std::size_t elements(std::uint32_t tensor) const { return table_->tensors[tensor].count; }

  JobConfig job_;
  std::uint32_t rank_;
  kernels::Isa isa_;
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  std::unique_ptr<HostArithmetic> host_;
  std::unique_ptr<DeviceResiduals> residuals_;
  bool copies_;
  Places places_;
  std::uint64_t step_ = 0;
  std::unique_ptr<kernels::DeviceStream> stream_;
  kernels::DeviceArray<kernels::StepOfRank> draw_;
  kernels::PinnedArray<kernels::StepOfRank> draw_here_;
  kernels::DeviceArray<std::byte> payload_;  // by the table's codecs, where payloads_ has them
  kernels::DeviceArray<float> scalers_;      // by slot: under which trits are drawn
  kernels::PinnedArray<float> scalers_here_;
  kernels::PinnedArray<kernels::TensorMeasured> found_here_;
  PinnedPackets payloads_;
  PinnedPackets floats_;  // of what travels as fp32
  BufferPool pool_;       // of what is sealed
  std::vector<Tensor> tensors_;
  std::vector<kernels::EncodePlan> plans_;
  std::deque<UnderWay> under_way_;
  std::uint32_t gathering_ = 0;  // so many have begun to give orders at once
  std::optional<Error> failed_;  // what was found while another order was given
};

}  // namespace sterna::actors
