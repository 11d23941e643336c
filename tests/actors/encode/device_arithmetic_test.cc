// Gradients that lie on a device, which the host's plays, leave it as the packets, offers and
// counts that the host makes of them.
#include "actors/encode/device_arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>

#include "actors/encode/gradient_encoder.h"
#include "kernels/device/host_device.h"
#include "runtime/base/random.h"
#include "runtime/sim/sim_memory.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint32_t kRank = 3;
constexpr std::uint64_t kSteps = 3;
constexpr std::size_t kSizes[] = {1, 300'001, 5000};

/// All that an encoder says, and the order in which chunks of a shard left it.
struct Said {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<float, std::string>> packets;
  std::map<std::pair<std::uint64_t, std::uint32_t>, float> offers;
  std::vector<std::uint32_t> order;
  std::vector<std::uint64_t> counts;
  std::vector<std::vector<float>> residuals;
  Result<void> result;
  bool operator==(const Said& other) const {
    return packets == other.packets && offers == other.offers && order == other.order &&
           counts == other.counts && residuals == other.residuals;
  }
};

std::vector<float> gradient(std::uint64_t step, std::size_t tensor) {
  SeededRandom random(100 * step + tensor);
  std::vector<float> values(kSizes[tensor]);
  for (float& value : values) value = static_cast<float>(random.below(2001)) * 1e-5F - 0.01F;
  return values;
}

class DeviceArithmeticTest : public testing::Test {
 protected:
  DeviceArithmeticTest() {
    job.seed = 5;
    job.gradient.min_size = 2;  // the first tensor travels as floats
  }

  /// Gradients of a net on `device`, each complete when its event says so.
  struct Net {
    explicit Net(kernels::Device& device) : stream(device.make_stream().value()) {
      for (const std::size_t size : kSizes) {
        there.push_back(kernels::DeviceArray<float>::make(device, size).value());
        complete.push_back(device.make_event(kernels::EventUse::streams).value());
      }
    }
    nets::Gradient write(std::size_t tensor, const std::vector<float>& values) {
      EXPECT_TRUE(there[tensor].upload(*stream, values).ok());
      EXPECT_TRUE(stream->record(*complete[tensor]).ok());
      return {{there[tensor].data(), there[tensor].size()}, complete[tensor].get()};
    }
    std::unique_ptr<kernels::DeviceStream> stream;
    std::vector<kernels::DeviceArray<float>> there;
    std::vector<std::unique_ptr<kernels::DeviceEvent>> complete;
  };

  std::shared_ptr<const ParameterTable> table_of_tensors() const {
    std::vector<nets::ParameterSpec> specs;
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      specs.emplace_back().name = "tensor" + std::to_string(i);
      specs.back().shape = {kSizes[i]};
    }
    return std::make_shared<const ParameterTable>(specs, job, 2);
  }
  /// Where packets stay, whatever they are made of.
  struct Stay {
    explicit Stay(kernels::Device& device) {
      for (const std::size_t size : kSizes) {
        const std::size_t bytes = (size + 4) / 4 * 16 + 16;
        there.push_back(kernels::DeviceArray<std::byte>::make(device, bytes).value());
      }
    }
    PacketPlace operator[](std::uint32_t tensor) {
      std::byte* const end = there[tensor].data() + there[tensor].size();
      return {there[tensor].data(), reinterpret_cast<float*>(end - 16)};
    }
    std::vector<kernels::DeviceArray<std::byte>> there;
  };
  KeptMemory::Region memory_of(const std::string& name) {
    return host_memory.of(name)->take(Residuals::bytes_of(job, *table_of_tensors())).value();
  }

  /// Of some steps, all of whose offers are agreed to. `device` null: the host's. `memory`: what
  /// outlives the encoder, where anything does.
  Said encode(const std::shared_ptr<kernels::Device>& device, bool copies = false,
              const std::optional<KeptMemory::Region>& memory = std::nullopt) {
    const auto table = table_of_tensors();
    Said said;
    std::vector<Packet> last;  // of the last step
    const GradientEncoder::Events events{
        [&](std::uint64_t step, std::uint32_t, const std::vector<Packet>& packets) {
          for (const Packet& packet : packets) {
            const ByteView bytes = packet.payload.view();
            said.packets[{step, packet.chunk}] = {packet.scaler, std::string(text_of(bytes))};
            said.order.push_back(packet.chunk);
            last.push_back(packet);
          }
          if (memory && last.size() == table->chunks.size()) {
            EXPECT_TRUE(Residuals(job, *table, *memory, 0).whole_for(step + 1)) << step;
          }
        },
        [&](std::uint64_t step, std::uint32_t, const std::vector<Offer::OwnScaler>& own) {
          for (const Offer::OwnScaler& one : own) said.offers[{step, one.index}] = one.value;
        }};
    const kernels::Isa isa = kernels::best_isa();
    std::optional<Net> net;
    std::optional<Stay> stay;
    std::vector<std::vector<float>> here(3);
    std::optional<GradientEncoder> encoder;
    Residuals residuals;
    if (memory) {
      residuals = Residuals(job, *table, *memory, 0);
      if (first_step == 0) residuals.start_at(0);
      EXPECT_TRUE(first_step == 0 || residuals.whole_for(first_step));
    }
    auto on_host = std::make_unique<HostArithmetic>(job, kRank, isa, table, copies && !device,
                                                    std::move(residuals));
    std::unique_ptr<EncodeArithmetic> arithmetic;
    if (device) {
      net.emplace(*device);
      DeviceArithmetic::Places places;
      if (stays) {
        stay.emplace(*device);
        places = [&stay](std::uint32_t tensor, kernels::Packing) { return (*stay)[tensor]; };
      }
      arithmetic = DeviceArithmetic::make(job, kRank, isa, table, device, std::move(on_host),
                                          copies, std::move(places))
                       .value();
    } else {
      arithmetic = std::move(on_host);
    }
    encoder.emplace(job, table, clock, events, std::move(arithmetic));
    for (std::uint64_t step = first_step; step < first_step + kSteps && said.result; ++step) {
      last.clear();
      encoder->begin(step);
      const auto write = [&](std::size_t tensor, std::vector<float> values) -> nets::Gradient {
        if (net) return net->write(tensor, here[tensor] = std::move(values));
        here[tensor] = std::move(values);
        return {here[tensor]};
      };
      for (std::uint32_t tensor = 3; tensor-- > 0 && said.result;) {
        std::vector<float> values = gradient(step, tensor);
        if (step == bad_step && tensor == bad_tensor) values[values.size() / 2] = bad;
        said.result = encoder->add(tensor, write(tensor, std::move(values)));
      }
      if (said.result) said.result = encoder->wait();
      if (copies && said.result) {  // another rank's turn
        if (net) {
          EXPECT_TRUE(net->stream->finish().ok());
        }
        for (std::size_t tensor = 0; tensor < 3; ++tensor) {
          write(tensor, std::vector<float>(kSizes[tensor], 77));
        }
      }
      for (const auto& [at, value] : said.offers) {
        if (at.first == step) encoder->agree(step, at.second, value);
      }
      if (said.result) said.result = encoder->encode_held();
      encoder->flush();
      EXPECT_FALSE(said.result.ok() && encoder->holds());
      if (step == first_step && !repeated.empty()) encoder->settle(repeated);
      for (const Packet& packet : last) {
        if (step != dropped_step || packet.chunk % 2 == 0) continue;
        EXPECT_TRUE(encoder->give_back(packet).ok());
      }
      if (net) {  // the next step's values take the place of those that it copies
        EXPECT_TRUE(net->stream->finish().ok());
      }
    }
    for (std::uint32_t tensor = 0; tensor < 3; ++tensor) {
      const GradientEncoder::Counts& counts = encoder->counts(tensor);
      for (const std::uint64_t one : {counts.steps, counts.bytes, counts.ternarized, counts.nonzero,
                                      counts.measured, counts.saturated}) {
        said.counts.push_back(one);
      }
    }
    said.residuals = encoder->state().value().residuals;
    if (net) {
      EXPECT_TRUE(net->stream->finish().ok());
    }
    return said;
  }

  /// The same of a job whose workers come again, and of the next worker, which does the last step
  /// again; what the one and the other said.
  std::pair<Said, Said> encode_twice(const std::shared_ptr<kernels::Device>& device,
                                     const std::string& name) {
    host_memory.forget(name);
    std::pair<Said, Said> said;
    first_step = 0;
    said.first = encode(device, false, memory_of(name));
    first_step = kSteps - 1;
    said.second = encode(device, false, memory_of(name));
    first_step = 0;
    return said;
  }
  void expect_the_hosts_bits_in_the_next_worker() {
    const auto expected = encode_twice(nullptr, "host");
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const std::shared_ptr<kernels::Device> device =
          kernels::make_host_device({.seed = seed, .hidden = seed == 0});
      const auto found = encode_twice(device, "device");
      EXPECT_TRUE(found.first == expected.first) << "seed " << seed;
      EXPECT_TRUE(found.second == expected.second) << "seed " << seed;
    }
  }

  void expect_the_hosts_bits(bool copies = false) {
    const Said expected = encode(nullptr, copies);
    ASSERT_TRUE(expected.result.ok()) << expected.result.error().message;
    EXPECT_EQ(expected.packets.size() % kSteps, 0U);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::shared_ptr<kernels::Device> device =
          kernels::make_host_device({.seed = seed, .hidden = seed == 0});
      const Said found = encode(device, copies);
      ASSERT_TRUE(found.result.ok()) << found.result.error().message;
      EXPECT_TRUE(found == expected) << "seed " << seed;
    }
  }

  JobConfig job;
  SteadyClock clock;
  SimMemory host_memory;
  std::uint64_t first_step = 0;
  std::uint64_t dropped_step = 99;      ///< of which every second chunk did not count
  std::vector<std::uint32_t> repeated;  ///< chunks of the first step that another worker has sent
  std::uint64_t bad_step = 99;
  std::uint32_t bad_tensor = 1;
  float bad = std::numeric_limits<float>::infinity();
  bool stays = false;  // packets do, on the device
};

TEST_F(DeviceArithmeticTest, MakesThePacketsOffersAndCountsOfTheHost) {
  for (const ScalerRule rule :
       {ScalerRule::own, ScalerRule::shared, ScalerRule::mean, ScalerRule::last_step}) {
    for (const char* codec : {"ternary", "ternary_entropy", "none", "bf16"}) {
      job.gradient.scaler = rule;
      job.gradient.codec = codec;
      SCOPED_TRACE(std::string(codec) + ", rule " + std::to_string(static_cast<int>(rule)));
      expect_the_hosts_bits();
    }
  }
}

TEST_F(DeviceArithmeticTest, FeedsBackWhatTheHostFeedsBack) {
  job.gradient.error_feedback = true;
  job.gradient.tensors = {{"tensor2", "bf16"}};
  for (const ScalerRule rule :
       {ScalerRule::own, ScalerRule::shared, ScalerRule::mean, ScalerRule::last_step}) {
    for (const char* codec : {"ternary", "ternary_entropy", "bf16"}) {
      job.gradient.scaler = rule;
      job.gradient.codec = codec;
      SCOPED_TRACE(std::string(codec) + ", rule " + std::to_string(static_cast<int>(rule)));
      expect_the_hosts_bits();
    }
  }
  job.gradient.codec = "ternary";
  job.gradient.clip = 0;
  expect_the_hosts_bits(true);
}

TEST_F(DeviceArithmeticTest, WhatIsLeftGoesWithAStepThatTravelsAsFloats) {
  job.gradient.error_feedback = true;
  job.gradient.tensors = {{"tensor2", "bf16"}};
  job.examples = std::uint64_t{job.batch} * job.ranks;  // each step an epoch
  for (const std::uint64_t every : {2, 3}) {
    job.gradient.floating_grad_epoch = every;
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      job.gradient.scaler = rule;
      expect_the_hosts_bits();
    }
  }
}

TEST_F(DeviceArithmeticTest, WhatDidNotCountGoesWithTheNextOne) {
  job.gradient.error_feedback = true;
  job.gradient.tensors = {{"tensor2", "bf16"}};
  dropped_step = 1;
  expect_the_hosts_bits();
  expect_the_hosts_bits_in_the_next_worker();
}

TEST_F(DeviceArithmeticTest, TheNextWorkerFindsWhatWasLeft) {
  job.gradient.error_feedback = true;
  job.gradient.tensors = {{"tensor2", "bf16"}};
  for (const char* scheme : {"sync", "async"}) {
    job.scheme.name = scheme;
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared}) {
      if (rule == ScalerRule::shared && !job.in_step()) continue;
      job.gradient.scaler = rule;
      expect_the_hosts_bits_in_the_next_worker();
    }
    for (std::uint32_t chunk = 0; chunk < table_of_tensors()->chunks.size(); chunk += 3) {
      repeated.push_back(chunk);
    }
    expect_the_hosts_bits_in_the_next_worker();
    repeated.clear();
  }
}

/// Of each packet of the first step its tensor, and whether all that is left was stamped by then.
struct StampedAtPackets final : EncodeArithmetic::Listener {
  StampedAtPackets(const JobConfig& of, const ParameterTable& chunks, KeptMemory::Region lies_in)
      : job(of), table(chunks), memory(std::move(lies_in)) {}
  void packed(std::uint32_t chunk, float, Bytes, std::uint64_t) override {
    tensors.push_back(table.chunks[chunk].tensor);
    stamped.push_back(Residuals(job, table, memory, 0).whole_for(1));
  }
  void measured(std::uint32_t, const Measured&) override {}
  const JobConfig& job;
  const ParameterTable& table;
  KeptMemory::Region memory;
  std::vector<std::uint32_t> tensors;
  std::vector<bool> stamped;
};

TEST_F(DeviceArithmeticTest, WhatIsLeftIsStampedBeforeTheLastPacketOfItsStepIsMade) {
  job.gradient.error_feedback = true;
  const auto packets_of = [&](std::uint64_t seed) {
    host_memory.forget("worker");
    const std::shared_ptr<kernels::Device> device = kernels::make_host_device({.seed = seed});
    const auto table = table_of_tensors();
    const KeptMemory::Region memory = memory_of("worker");
    Residuals residuals(job, *table, memory, 0);
    residuals.start_at(0);
    const kernels::Isa isa = kernels::best_isa();
    const auto arithmetic =
        DeviceArithmetic::make(
            job, kRank, isa, table, device,
            std::make_unique<HostArithmetic>(job, kRank, isa, table, false, std::move(residuals)))
            .value();
    Net net(*device);
    StampedAtPackets found(job, *table, memory);
    arithmetic->begin(0);
    std::vector<std::vector<float>> here(3);
    for (std::uint32_t tensor = 0; tensor < 3; ++tensor) {
      here[tensor] = gradient(0, tensor);
      const nets::Gradient written = net.write(tensor, here[tensor]);
      EXPECT_TRUE(arithmetic->start({.tensor = tensor, .gradient = written}, found).ok());
    }
    EXPECT_TRUE(arithmetic->finish(found).ok());
    EXPECT_TRUE(net.stream->finish().ok());
    return std::pair(found.tensors, found.stamped);
  };
  std::size_t early = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto [tensors, stamped] = packets_of(seed);
    EXPECT_TRUE(stamped.back()) << seed;
    early += static_cast<std::size_t>(std::ranges::count(stamped, false));
  }
  EXPECT_GT(early, 0U) << "nobody waits for what is left but the last";

  // Where ranks are not in step the next worker may have to tell which chunks went already.
  job.scheme.name = "async";
  job.gradient.tensors = {{"tensor2", "none"}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto [tensors, stamped] = packets_of(seed);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(stamped[i] || tensors[i] != 1) << seed;
    }
  }
}

TEST_F(DeviceArithmeticTest, LeavesTheRestToTheHost) {
  for (const char* codec : {"sign", "topk", "rowwise"}) {
    job.gradient.codec = codec;
    SCOPED_TRACE(codec);
    job.gradient.error_feedback = codec != std::string("rowwise");
    expect_the_hosts_bits();
  }
  job.gradient.codec = "ternary";
  job.gradient.buckets = true;
  for (const bool feedback : {false, true}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      job.gradient.scaler = rule;
      job.gradient.error_feedback = feedback;
      expect_the_hosts_bits();
    }
  }
  // Beside what the device does.
  job.gradient.tensors = {{"tensor2", "bf16"}};
  job.gradient.scaler = ScalerRule::shared;
  expect_the_hosts_bits();
  expect_the_hosts_bits_in_the_next_worker();
}

TEST_F(DeviceArithmeticTest, CopiesWhatIsHeldWhereOthersTakeTurns) {
  job.gradient.scaler = ScalerRule::shared;
  for (const bool buckets : {false, true}) {
    job.gradient.buckets = buckets;
    expect_the_hosts_bits(true);
  }
}

TEST_F(DeviceArithmeticTest, WhatIsNotFiniteIsNamedLaterAndNeitherOfferedNorSent) {
  bad_step = 1;
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    for (const bool error_feedback : {false, true}) {
      job.gradient.scaler = rule;
      job.gradient.error_feedback = error_feedback;
      const Said found = encode(kernels::make_host_device({.seed = 4}));
      ASSERT_FALSE(found.result.ok());
      EXPECT_EQ(found.result.error().code, Errc::non_finite);
      EXPECT_THAT(found.result.error().message, StartsWith("tensor1: "));
      EXPECT_THAT(found.result.error().message, HasSubstr("element 150000 "));
      for (const auto& [at, value] : found.offers) EXPECT_FALSE(at.first == 1 && at.second == 0);
    }
  }
}

// As a server would say of it.
TEST_F(DeviceArithmeticTest, OfNumbersThatStayOnlyWhatIsNotFiniteAsTheyArePackedIsRefused) {
  stays = true;
  bad_step = 1;
  const auto said_of = [&](float value) {
    bad = value;
    const Said said = encode(kernels::make_host_device({.seed = 4}));
    return said.result ? "" : said.result.error().message;
  };
  for (const bool feedback : {false, true}) {
    job.gradient.error_feedback = feedback;
    job.gradient.codec = "ternary";
    EXPECT_THAT(said_of(1e30F), HasSubstr("squares overflow"));
    job.gradient.codec = "none";
    EXPECT_EQ(said_of(1e30F), "");
    EXPECT_THAT(said_of(std::numeric_limits<float>::infinity()), HasSubstr("150000 is infinite"));
    job.gradient.codec = "bf16";
    EXPECT_EQ(said_of(1e30F), "");
    EXPECT_THAT(said_of(3.4e38F), HasSubstr("bf16 element 150000 is not finite"));
    EXPECT_THAT(said_of(std::numeric_limits<float>::quiet_NaN()), HasSubstr("150000 is NaN"));
    job.gradient.codec = "ternary";
    job.gradient.floating_grad_epoch = 1;
    EXPECT_EQ(said_of(1e30F), "");
    EXPECT_THAT(said_of(std::numeric_limits<float>::infinity()), HasSubstr("150000 is infinite"));
    job.gradient.floating_grad_epoch = 0;
  }
}

TEST_F(DeviceArithmeticTest, AFaultOfTheDeviceIsTheErrorOfTheStep) {
  int failed = 0;
  for (std::uint64_t after = 1; after < 60; after += 4) {
    const std::shared_ptr<kernels::Device> device =
        kernels::make_host_device({.seed = 6, .fails_after = after});
    std::vector<nets::ParameterSpec> specs(1);
    specs[0].name = "only";
    specs[0].shape = {1000};
    const auto table = std::make_shared<const ParameterTable>(specs, job, 1);
    const kernels::Isa isa = kernels::best_isa();
    const auto step = [&]() -> Result<void> {
      STERNA_ASSIGN(auto arithmetic, DeviceArithmetic::make(
                                         job, kRank, isa, table, device,
                                         std::make_unique<HostArithmetic>(job, kRank, isa, table)));
      STERNA_ASSIGN(const auto there, kernels::DeviceArray<float>::make(*device, 1000));
      GradientEncoder encoder(
          job, table, clock,
          {[](std::uint64_t, std::uint32_t, const std::vector<Packet>&) {},
           [](std::uint64_t, std::uint32_t, const std::vector<Offer::OwnScaler>&) {}},
          std::move(arithmetic));
      for (std::uint64_t of = 0; of < 3; ++of) {
        encoder.begin(of);
        STERNA_TRY(encoder.add(0, {{there.data(), there.size()}}));
        STERNA_TRY(encoder.encode_held());
      }
      return {};
    }();
    if (step.ok()) continue;
    ++failed;
    EXPECT_THAT(step.error().message, HasSubstr("the host device has failed"));
  }
  EXPECT_GE(failed, 5);
}

}  // namespace
}  // namespace sterna::actors
