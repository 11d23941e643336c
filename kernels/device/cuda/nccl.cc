#include "kernels/device/cuda/nccl.h"

#include <nccl.h>

#include <optional>
#include <utility>

#include "kernels/device/cuda/cuda_device.h"

namespace sterna::kernels {
namespace {

// 2.18, which PyTorch 2.1 brought.
constexpr int kOldest = 21800;

/// What of the library is called.
struct Functions {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
};

/// "2.28.9" of 22809.
std::string version_name(int version) {
  return std::to_string(version / 10'000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Result<Functions> load(const NcclPlaces& places) {
  STERNA_ASSIGN(void* const library, open_libraries({places.library}, places.folders));
  Functions f;
  const bool all = find_function(library, "ncclGetVersion", f.version) &&
                   find_function(library, "ncclGetErrorString", f.error_string) &&
                   find_function(library, "ncclGetLastError", f.last_error) &&
                   find_function(library, "ncclCommInitAll", f.init_all) &&
                   find_function(library, "ncclCommGetAsyncError", f.async_error) &&
                   find_function(library, "ncclCommAbort", f.abort) &&
                   find_function(library, "ncclGroupStart", f.group_start) &&
                   find_function(library, "ncclGroupEnd", f.group_end) &&
                   find_function(library, "ncclAllGather", f.all_gather) &&
                   find_function(library, "ncclSend", f.send) &&
                   find_function(library, "ncclRecv", f.receive);
  if (!all) {
    return Error{Errc::unavailable,
                 places.library + " lacks functions of NCCL 2; install 2.18 or newer"};
  }
  return f;
}

class NcclExchange final : public DeviceExchange {
 public:
  explicit NcclExchange(const Functions& functions) : f_(functions) {}
  ~NcclExchange() override { abort(); }
  NcclExchange(const NcclExchange&) = delete;
  NcclExchange& operator=(const NcclExchange&) = delete;

  Result<void> start(const NcclPlaces& places, const std::vector<int>& devices) {
    STERNA_TRY(checked(f_.version(&version_), "ncclGetVersion"));
    if (version_ < kOldest) {
      return Error{Errc::unavailable, places.library + " is NCCL " + version_name(version_) +
                                          "; install 2.18 or newer, or name its folder in "
                                          "host.cuda"};
    }
    std::vector<ncclComm_t> made(devices.size());
    STERNA_TRY(checked(f_.init_all(made.data(), static_cast<int>(made.size()), devices.data()),
                       "ncclCommInitAll"));
    communicators_ = std::move(made);
    return {};
  }

  std::string name() const noexcept override { return "NCCL " + version_name(version_); }

  Result<void> gather(std::span<const Place> places, std::size_t bytes) noexcept override {
    return put(places.size(), [&](std::size_t i) {
      const Place& at = places[i];
      return checked(f_.all_gather(at.parts + i * bytes, at.parts, bytes, ncclUint8,
                                   communicators_[i], stream_of(*at.stream)),
                     "ncclAllGather");
    });
  }
  Result<void> scatter(std::span<const Scattered> all, const Packets& packets) noexcept override {
    return put(all.size(), [&](std::size_t i) -> Result<void> {
      for (std::size_t peer = 0; peer < all.size(); ++peer) {
        if (peer != i) STERNA_TRY(swap(all[i], packets, i, peer));
      }
      return {};
    });
  }

 private:
  /// What device i sends one other, and what it receives from it.
  Result<void> swap(const Scattered& own, const Packets& packets, std::size_t i,
                    std::size_t peer) const {
    const auto rank = static_cast<int>(peer);
    CUstream_st* const stream = stream_of(*own.stream);
    const std::byte* from = own.from + peer * packets.slice;
    std::byte* to = own.to + place_of(peer, i) * packets.count * packets.slice;
    for (std::size_t k = 0; k < packets.count; ++k) {
      STERNA_TRY(checked(f_.send(from, packets.slice, ncclUint8, rank, communicators_[i], stream),
                         "ncclSend"));
      STERNA_TRY(checked(f_.receive(to, packets.slice, ncclUint8, rank, communicators_[i], stream),
                         "ncclRecv"));
      from += packets.stride;
      to += packets.slice;
    }
    return {};
  }

  /// Calls one(i) for each device i, of so many, all as one group.
  template <class One>
  Result<void> put(std::size_t devices, One one) {
    if (failed_) return *failed_;
    if (devices != communicators_.size()) {
      return Error{Errc::invalid_argument, "a place for each device must be given"};
    }
    const Result<void> done = [&]() -> Result<void> {
      STERNA_TRY(check());
      STERNA_TRY(checked(f_.group_start(), "ncclGroupStart"));
      Result<void> all;
      for (std::size_t i = 0; i < devices && all; ++i) all = one(i);
      const Result<void> ended = checked(f_.group_end(), "ncclGroupEnd");  // of a failed one, too
      if (!all) return all;
      STERNA_TRY(ended);
      return check();
    }();
    if (done) return {};
    failed_ = done.error();
    abort();
    return *failed_;
  }

  /// What has become of earlier calls, as far as is known.
  Result<void> check() const {
    for (ncclComm_t const one : communicators_) {
      ncclResult_t found = ncclSuccess;
      STERNA_TRY(checked(f_.async_error(one, &found), "ncclCommGetAsyncError"));
      if (found != ncclInProgress) STERNA_TRY(checked(found, "NCCL"));
    }
    return {};
  }

  Result<void> checked(ncclResult_t code, const char* what) const {
    if (code == ncclSuccess) return {};
    std::string line = std::string(what) + ": " + f_.error_string(code);
    const char* const last = f_.last_error(nullptr);  // of the process
    const std::string more = last == nullptr ? "" : last;
    if (!more.empty()) line += " (" + more.substr(0, more.find('\n')) + ")";
    return Error{Errc::unavailable, line};
  }

  // Not ncclCommDestroy, which waits for what a failed card may never do.
  void abort() {
    for (ncclComm_t const one : communicators_) f_.abort(one);
    communicators_.clear();
  }

  Functions f_;
  int version_ = 0;
  std::vector<ncclComm_t> communicators_;  // by device
  std::optional<Error> failed_;
};

}  // namespace

Result<std::unique_ptr<DeviceExchange>> make_nccl_exchange(const std::vector<int>& devices,
                                                           const NcclPlaces& places) {
  STERNA_ASSIGN(const Functions functions, load(places));
  auto made = std::make_unique<NcclExchange>(functions);
  STERNA_TRY(made->start(places, devices));
  return std::unique_ptr<DeviceExchange>(std::move(made));
}

}  // namespace sterna::kernels
