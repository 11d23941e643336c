// ScalerBoard: where the ranks agree on the scalers of one shard, each the largest that any rank
// offers (TernGrad's scaler sharing, Wen et al. 2017, section 3.3), or the mean of what all offer.
//
// Where all ranks make each step, no rank is more than one ahead of another, so that of each scaler
// only the step that is being agreed and the one before are kept, and one more for a rank that goes
// on in another worker. Nothing depends on the order of arrival. Below a full quorum a step's
// scalers are the largest of those that come first, as many as are counted; what comes later is
// not, and a rank gets the newest there are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"

namespace sterna::actors {

class ScalerBoard {
 public:
  /// For the scalers of `table` that are agreed at `shard`, from the job's first step on; its
  /// scaler rule is not own.
  ScalerBoard(const ParameterTable& table, std::uint32_t shard, const JobConfig& job);

  /// Takes one rank's scalers, all or none of them. Errors (invalid_argument: its sender broke the
  /// rules): a scaler of another shard, one that is negative or not finite, a step that is not the
  /// next, a rank that offers another value than before (but where it may have lost its residuals
  /// since: then the first counts); not_found: a step whose scalers are gone.
  /// Returns whether some scaler became agreed.
  Result<bool> offer(const Offer& offer);
  /// Once all ranks have offered theirs of `step`; below a full quorum the newest there is, of
  /// whatever step, or the largest that was offered yet.
  std::optional<float> agreed(std::uint64_t step, std::uint32_t index) const;
  /// Where all ranks make each step: the earliest step of which one of the rank's own is missing.
  std::uint64_t first_lacking(std::uint32_t rank) const;
  /// Whether some scaler of the offer is of the step after the one that is being agreed: where two
  /// servers hold the same, its rank has the other one's answers.
  bool is_early(const Offer& offer) const;
  /// Whether all scalers of the steps before `step` are agreed, or of the last but one.
  bool has_come_to(std::uint64_t step) const;
  /// Of all that are agreed here, what was, in the order of the table; and back. Errors: malformed.
  std::vector<BoardCopy::Scaler> copy() const;
  Result<void> take_copy(const std::vector<BoardCopy::Scaler>& scalers);
  /// Nothing is known of what was agreed before `step`, from which on all offer theirs again.
  void begin_at(std::uint64_t step);
  /// All that are agreed here, of `step`, in the order of the table. Errors: not_found.
  Result<std::vector<float>> recall(std::uint64_t step) const;
  /// Whether they will be, once others have offered theirs of that step, or the one before.
  bool comes_to(std::uint64_t step) const;

 private:
  struct Entry {
    bool here = false;
    std::uint64_t step = 0;  ///< that is being agreed
    std::uint32_t missing = 0;
    std::vector<std::optional<float>> offered;  ///< by rank
    float last = 0;                             ///< of the step before
    float before_last = 0;
    std::uint32_t known = 0;  ///< how many of these two there are
  };
  Result<void> check(const Offer& offer) const;
  void begin(Entry& entry, std::uint64_t step) const;

  /// Of what the ranks have offered, in fp64 and in their order where it is a mean.
  float combined(const Entry& entry) const;

  ScalerRule rule_;
  bool newest_;      ///< will do
  bool may_differ_;  ///< what a rank offers again
  std::uint32_t ranks_;
  std::uint32_t averaged_;  ///< of so many ranks the first offers
  std::uint32_t counted_;
  std::uint64_t first_step_;
  std::uint64_t steps_;
  std::vector<Entry> entries_;
};

}  // namespace sterna::actors
