// gradient.codec = "auto": from what was measured to a codec for each tensor. Pure.
//
// The model of one tensor's exchange, n elements, of which a codec sends u bytes up and d bytes
// down:
//
//   wire     = both · min(u, d) + up · (u − d)   if u > d, in the seconds that a byte takes on the
//            = both · min(u, d) + down · (d − u) otherwise;   slowest worker's way to all servers
//   compute  = max(n · worker, n · server / S'), S' the servers that have a chunk of the tensor
//   exchange = round trip + max(wire, compute) + min(wire, compute) / chunks
//
// Chunks of 262,144 elements follow each other through wire and processors, so that of the shorter
// of the two only one chunk's part shows. Where all are on one host, its processors are the wire
// and the servers too: everything adds up. A codec whose trits wait for a scaler that the ranks
// agree on takes one round trip more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "nets/zoo/zoo.h"

namespace sterna::launcher {

/// What one element costs, as measured where the job will run.
struct CodecCost {
  std::string codec;
  double bytes_up = 0;
  double bytes_down = 0;
  double worker_seconds = 0;  ///< a rank's: to packets, and from what comes down
  double server_seconds = 0;  ///< for all ranks' packets, if one server had all of the tensor
  bool operator==(const CodecCost&) const = default;
};

/// The way between the slowest worker and all servers, while all others are as busy.
struct LinkCost {
  double up = 0;          ///< seconds a byte, while nothing comes down
  double down = 0;        ///< ... while nothing goes up
  double both = 0;        ///< a byte up and one down
  double round_trip = 0;  ///< seconds
};

struct ExchangeCosts {
  std::vector<CodecCost> codecs;  ///< with "none" among them
  LinkCost link;
  std::int64_t ranks_per_worker = 1;  ///< the most; what they send shares the worker's way
  std::int64_t servers = 1;
  bool one_host = false;  ///< has them all
  bool agrees = false;    ///< trits wait until the ranks agree on this step's scaler
};

struct ChoosableTensor {
  std::string name;
  std::uint64_t elements = 0;
};

/// By the model, in seconds.
double exchange_seconds(const CodecCost& codec, std::uint64_t elements, const ExchangeCosts& costs);

/// Of each tensor the fastest of the codecs, by name; "none" where no other is faster by at least
/// 3 %, which is less than such a model can know.
std::map<std::string, std::string> choose_codecs(const std::vector<ChoosableTensor>& tensors,
                                                 const ExchangeCosts& costs);

/// The tensors whose codec "auto" has to choose: those that no other key decides on. Errors: the
/// net's.
Result<std::vector<ChoosableTensor>> choosable_tensors(const ClusterFile& file,
                                                       const nets::ImageClasses& images);

/// The section with this choice in place of "auto", for every tensor by name, so that a file with
/// it runs again as this one does.
GradientSection with_choice(const GradientSection& gradient,
                            const std::map<std::string, std::string>& chosen);

/// "ternary for 3 tensors, none for 5: 1.0 Gbit/s up, 1.0 Gbit/s down, 0.21 ms round trip"
std::string choice_line(const std::map<std::string, std::string>& chosen, const LinkCost& link);

}  // namespace sterna::launcher
