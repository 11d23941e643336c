// What the servers' policies of schemes have in common: which pushes are well formed, which
// versions are pulled, and which are kept for the evaluator. One for versions that are made of the
// pushes of several ranks, one for those of a single push each.
#pragma once

#include <set>

#include "actors/schemes/scheme.h"

namespace sterna::actors {

class ServerRules : public ServerPolicy {
 public:
  ServerRules(const JobConfig& job, bool evaluated);
  Result<void> check(const Push& push) const override;
  Combine combine(Codec codec) const override;
  std::vector<float> weights(const std::vector<Counted>& packets,
                             std::uint64_t version) const override;
  PayloadKind sends() const override;
  Result<bool> answers(std::uint64_t version, PayloadKind kind, std::uint64_t now) const override;
  bool may_begin(std::uint64_t push, const std::vector<std::uint64_t>& done) const override;
  bool evaluates(std::uint64_t version) const override;
  Result<bool> reserve(std::uint64_t version, std::uint64_t first) override;
  void release(std::uint64_t version) override { reserved_.erase(version); }
  bool compares(std::uint64_t version) const override;
  bool settles(std::uint64_t version) const override;

 protected:
  const JobConfig& job() const { return job_; }

 private:
  JobConfig job_;
  bool evaluated_;
  std::set<std::uint64_t> reserved_;  // by the evaluator, and not released yet
};

/// A version is made of the first packets that come from so many ranks, all from the version before
/// it; what comes later is dropped.
class TogetherRules : public ServerRules {
 public:
  using ServerRules::ServerRules;
  Result<Verdict> judge(const Push& push, const Packet& packet,
                        const ChunkState& chunk) const override;
  bool complete(const ChunkState& chunk) const override {
    return chunk.waiting == job().counted_ranks();
  }
  bool one() const override { return false; }
};

/// Each packet makes a version, from whichever it was computed, until the job has all of its own.
class SingleRules : public ServerRules {
 public:
  using ServerRules::ServerRules;
  Result<Verdict> judge(const Push& push, const Packet& packet,
                        const ChunkState& chunk) const override;
  bool complete(const ChunkState& chunk) const override { return chunk.waiting > 0; }
  bool one() const override { return true; }
};

/// Whether gradients travel down, from which workers step as the servers do ("parameter
/// localization", Wen et al. 2017, section 3.1).
bool workers_step(const JobConfig& job);
/// Whether ranks' gradients count by scheme.rank_rates.
bool weighs_ranks(const JobConfig& job);
/// Whether ranks and servers compare their parameters of a version.
bool compares_version(const JobConfig& job, std::uint64_t version);

}  // namespace sterna::actors
