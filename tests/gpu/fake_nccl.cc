// A libnccl.so.2 whose cards are the emulated ones: what is put as one group is copied at the
// group's end, and where a real one would wait for ever it says that it is used wrongly. FAKE_NCCL
// is its version ("22809"), FAKE_NCCL_FAILS a function that fails, or "later": the next group goes
// wrong once it is on its way.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nccl.h"

struct ncclComm {
  int rank = 0;
  int aborts = 0;
};

namespace {

struct Gather {
  ncclComm_t by;
  const char* from;
  char* to;
  std::size_t bytes;
};
/// What a rank sends to, or receives from, another.
struct Message {
  int from;
  int to;
  const char* read;
  char* written;
  std::size_t bytes;
};

struct World {
  std::vector<std::unique_ptr<ncclComm>> ranks;  // the last that were made; they stay
  std::vector<Gather> gathers;                   // of the group
  std::vector<Message> sent;                     // likewise
  std::vector<Message> received;
  int groups = 0;  // that are open
  bool failed = false;
};

World& world() {
  static World world;
  return world;
}

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}
bool fails(const char* what) { return of_environment("FAKE_NCCL_FAILS") == what; }

/// Each rank must have put as many.
ncclResult_t run_gathers(std::vector<Gather> gathers) {
  const std::size_t ranks = world().ranks.size();
  if (gathers.size() % ranks != 0) return ncclInvalidUsage;
  std::ranges::stable_sort(gathers, {}, [](const Gather& one) { return one.by->rank; });
  const std::size_t each = gathers.size() / ranks;
  for (std::size_t i = 0; i < gathers.size(); ++i) {
    const Gather& to = gathers[i];
    if (to.by->rank != static_cast<int>(i / each)) return ncclInvalidUsage;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Gather& from = gathers[rank * each + i % each];
      if (from.bytes != to.bytes) return ncclInvalidUsage;
      char* const place = to.to + rank * to.bytes;
      if (place != from.from) std::memcpy(place, from.from, to.bytes);
    }
  }
  return ncclSuccess;
}

/// Each that is sent must be received, in the same order between the same two.
ncclResult_t run_messages(std::vector<Message> sent, const std::vector<Message>& received) {
  if (sent.size() != received.size()) return ncclInvalidUsage;
  for (const Message& to : received) {
    const auto from = std::ranges::find_if(
        sent, [&](const Message& one) { return one.from == to.from && one.to == to.to; });
    if (from == sent.end() || from->bytes != to.bytes) return ncclInvalidUsage;
    std::memcpy(to.written, from->read, to.bytes);
    sent.erase(from);
  }
  return ncclSuccess;
}

/// Whether a call of such a kind may be part of the group.
bool allowed(ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return world().groups > 0 && datatype == ncclUint8 && comm->aborts == 0 && stream != nullptr;
}

}  // namespace

extern "C" {

/// How often the communicator of a rank was aborted, of those that were made last.
int fake_nccl_aborts(int rank) { return world().ranks[static_cast<std::size_t>(rank)]->aborts; }

ncclResult_t ncclGetVersion(int* version) {
  *version = std::atoi(of_environment("FAKE_NCCL").c_str());
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidUsage ? "invalid usage" : "unhandled cuda error";
}

const char* ncclGetLastError(ncclComm_t /*comm*/) { return "the fake was told to\nand did"; }

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  if (fails("ncclCommInitAll")) return ncclUnhandledCudaError;
  for (int i = 0; i < ndev; ++i) {
    if (std::find(devlist, devlist + i, devlist[i]) != devlist + i) return ncclInvalidUsage;
  }
  world() = {};
  for (int i = 0; i < ndev; ++i) {
    comm[i] = world().ranks.emplace_back(std::make_unique<ncclComm>(ncclComm{i})).get();
  }
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t /*comm*/, ncclResult_t* asyncError) {
  *asyncError = world().failed ? ncclUnhandledCudaError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ++comm->aborts;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++world().groups;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (world().groups == 0) return ncclInvalidUsage;
  if (--world().groups > 0) return ncclSuccess;
  world().failed = fails("later");
  const ncclResult_t gathered = run_gathers(std::exchange(world().gathers, {}));
  const ncclResult_t swapped =
      run_messages(std::exchange(world().sent, {}), std::exchange(world().received, {}));
  return gathered != ncclSuccess ? gathered : swapped;
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, std::size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  if (fails("ncclAllGather")) return ncclUnhandledCudaError;
  if (!allowed(datatype, comm, stream)) return ncclInvalidUsage;
  world().gathers.push_back(
      {comm, static_cast<const char*>(sendbuff), static_cast<char*>(recvbuff), sendcount});
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* sendbuff, std::size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!allowed(datatype, comm, stream)) return ncclInvalidUsage;
  world().sent.push_back({comm->rank, peer, static_cast<const char*>(sendbuff), nullptr, count});
  return ncclSuccess;
}

ncclResult_t ncclRecv(void* recvbuff, std::size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!allowed(datatype, comm, stream)) return ncclInvalidUsage;
  world().received.push_back({peer, comm->rank, nullptr, static_cast<char*>(recvbuff), count});
  return ncclSuccess;
}

}  // extern "C"
