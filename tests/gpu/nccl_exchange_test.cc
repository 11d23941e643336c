// What moves bytes among cards, with an emulation in the place of CUDA and a fake in that of NCCL:
// what is put on which stream, what is said where it fails, and who is aborted then.
#include "kernels/device/cuda/nccl.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/device/cuda/cuda_device.h"
#include "kernels/device/device_array.h"

namespace sterna::kernels {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

class NcclExchangeTest : public testing::Test {
 protected:
  using Devices = std::vector<std::shared_ptr<Device>>;

  void SetUp() override {
    setenv(kLibraryFolders, STERNA_FAKE_NCCL, 1);
    setenv("FAKE_NCCL", "22809", 1);
    setenv("FAKE_NCCL_FAILS", "", 1);
  }
  void TearDown() override { unsetenv(kLibraryFolders); }

  static Devices devices(int count) {
    Devices all;
    for (int i = 0; i < count; ++i) all.push_back(open_cuda_device(i).value());
    return all;
  }
  static std::string error_of(const Result<void>& done) { return done ? "" : done.error().message; }
  static std::string error_of(const Devices& devices) {
    const auto made = make_exchange(devices);
    return made ? "made" : made.error().message;
  }
  /// How often each communicator of the last exchange was aborted.
  static std::vector<int> aborts(int ranks) {
    const std::string path = std::string(STERNA_FAKE_NCCL) + "/libnccl.so.2";
    int (*of)(int) = nullptr;
    EXPECT_TRUE(
        find_function(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), "fake_nccl_aborts", of));
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(of(rank));
    return all;
  }

  /// The devices' ends of an exchange.
  struct Ends {
    explicit Ends(const Devices& devices, std::size_t bytes) {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        streams.push_back(devices[i]->make_stream().value());
        parts.push_back(DeviceArray<std::byte>::make(*devices[i], bytes * devices.size()).value());
        places.push_back({streams[i].get(), parts[i].data()});
      }
    }
    std::vector<std::unique_ptr<DeviceStream>> streams;
    std::vector<DeviceArray<std::byte>> parts;
    std::vector<DeviceExchange::Place> places;
  };
  /// What all have behind a few rounds, one device after the other.
  static std::vector<std::byte> gathered(DeviceExchange& exchange, const Devices& devices,
                                         std::size_t bytes) {
    Ends ends(devices, bytes);
    std::vector<std::byte> all;
    for (std::size_t round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::vector<std::byte> own(bytes, static_cast<std::byte>(10 * round + i));
        EXPECT_TRUE(
            ends.streams[i]->copy(ends.parts[i].data() + i * bytes, own.data(), bytes).ok());
      }
      EXPECT_EQ(error_of(exchange.gather(ends.places, bytes)), "");
      for (const DeviceArray<std::byte>& parts : ends.parts) {
        all.insert(all.end(), parts.data(), parts.data() + parts.size());
      }
    }
    return all;
  }
};

/// What all have behind a scatter of packets that end in a byte of their own.
std::vector<std::vector<std::byte>> scattered(DeviceExchange& exchange,
                                              const std::vector<std::shared_ptr<Device>>& devices,
                                              std::size_t count, std::size_t slice) {
  const std::size_t stride = slice * devices.size() + 1;
  std::vector<std::unique_ptr<DeviceStream>> streams;
  std::vector<DeviceArray<std::byte>> from;
  std::vector<DeviceArray<std::byte>> to;
  std::vector<DeviceExchange::Scattered> ends;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    streams.push_back(devices[i]->make_stream().value());
    std::vector<std::byte> own(count * stride);
    for (std::size_t b = 0; b < own.size(); ++b) own[b] = static_cast<std::byte>(40 * i + b);
    from.push_back(uploaded<std::byte>(*devices[i], *streams[i], own).value());
    to.push_back(
        DeviceArray<std::byte>::make(*devices[i], (devices.size() - 1) * count * slice).value());
    ends.push_back({streams[i].get(), from[i].data(), to[i].data()});
  }
  const Result<void> done = exchange.scatter(ends, {count, stride, slice});
  EXPECT_TRUE(done.ok()) << done.error().message;
  std::vector<std::vector<std::byte>> all;
  for (const DeviceArray<std::byte>& one : to)
    all.emplace_back(one.data(), one.data() + one.size());
  return all;
}

TEST_F(NcclExchangeTest, BringsTheBytesThatCopiesBring) {
  for (int count = 2; count <= 7; ++count) {
    const Devices all = devices(count);
    const auto by_nccl = make_exchange(all).value();
    EXPECT_EQ(by_nccl->name(), "NCCL 2.28.9");
    const auto by_copies = make_copying_exchange(all).value();
    for (const std::size_t bytes : {1, 16, 1000}) {
      EXPECT_EQ(gathered(*by_nccl, all, bytes), gathered(*by_copies, all, bytes))
          << count << " devices, " << bytes << " bytes";
    }
    for (const std::size_t packets : {1, 3}) {
      const auto found = scattered(*by_nccl, all, packets, 16);
      EXPECT_EQ(found, scattered(*by_copies, all, packets, 16)) << count << " devices";
      EXPECT_EQ(found.back().front(), static_cast<std::byte>(16 * (count - 1)));
    }
  }
}

TEST_F(NcclExchangeTest, IsLeftToCopiesWhereADeviceIsThereTwiceOrAlone) {
  setenv("FAKE_NCCL_FAILS", "ncclCommInitAll", 1);
  const Devices two = devices(2);
  EXPECT_EQ(make_exchange({two[0], two[0]}).value()->name(), "copies");
  EXPECT_EQ(make_exchange({two[0], two[1], two[0]}).value()->name(), "copies");
  EXPECT_EQ(make_exchange({two[0]}).value()->name(), "copies");
}

TEST_F(NcclExchangeTest, ThatIsNotThereIsNamedWithAllPlaces) {
  const NcclPlaces nowhere{.library = "libnccl-nowhere.so.2",
                           .folders = {.folders = {"/no/such"}, .toolkit = "/nor/such"}};
  const auto made = make_nccl_exchange({0, 1}, nowhere);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::unavailable);
  EXPECT_EQ(made.error().message,
            "libnccl-nowhere.so.2 is not there; looked in /no/such, where the loader looks, "
            "/nor/such; install it, or name its folder in host.cuda");
}

TEST_F(NcclExchangeTest, ThatIsTooOldOrDoesNotStartIsNotReplacedByCopies) {
  setenv("FAKE_NCCL", "21405", 1);
  EXPECT_EQ(error_of(devices(2)),
            "libnccl.so.2 is NCCL 2.14.5; install 2.18 or newer, or name its folder in host.cuda");
  SetUp();
  setenv("FAKE_NCCL_FAILS", "ncclCommInitAll", 1);
  EXPECT_EQ(error_of(devices(2)), "ncclCommInitAll: unhandled cuda error (the fake was told to)");
}

TEST_F(NcclExchangeTest, ThatFailsIsAbortedOnceAndSaysWhyFromThenOn) {
  for (const char* what : {"later", "ncclAllGather"}) {
    const Devices all = devices(3);
    auto exchange = make_exchange(all).value();
    Ends ends(all, 4);
    EXPECT_EQ(error_of(exchange->gather(ends.places, 4)), "");
    EXPECT_THAT(aborts(3), Each(0));
    setenv("FAKE_NCCL_FAILS", what, 1);
    const std::string said = error_of(exchange->gather(ends.places, 4));
    EXPECT_THAT(said, AllOf(HasSubstr("unhandled cuda error (the fake was told to)"),
                            Not(HasSubstr("\n"))));
    EXPECT_THAT(aborts(3), Each(1)) << what;
    SetUp();
    EXPECT_EQ(error_of(exchange->gather(ends.places, 4)), said);
    exchange.reset();
    EXPECT_THAT(aborts(3), Each(1)) << what;
  }
}

TEST_F(NcclExchangeTest, LeavesNoCommunicatorAtItsEnd) {
  make_exchange(devices(4)).value().reset();
  EXPECT_THAT(aborts(4), Each(1));
}

TEST_F(NcclExchangeTest, WantsAPlaceForEachDevice) {
  const auto exchange = make_exchange(devices(2)).value();
  EXPECT_EQ(exchange->gather({}, 4).error().code, Errc::invalid_argument);
  EXPECT_THAT(aborts(2), Each(0));
}

}  // namespace
}  // namespace sterna::kernels
