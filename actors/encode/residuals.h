// Residuals: what a lossy codec has left of one rank's gradients, for error feedback.
//
// They may lie in memory that outlives the worker (runtime/actor/kept_memory.h): then there are two
// of each, by the parity of the step, so that a step reads those of the step before and writes its
// own beside them, and a stamp for each that says of which step it is, written last. Step s writes
// over those of s - 2. It begins to once all servers have all packets of s - 1
// (GradientPushes::all_pushed), and a tensor's last packet leaves once it is stamped: whoever goes
// on in the place of this worker, at step t, finds those of t - 1 whole. What the worker before had
// stamped for the step that is done again is left as it is: others may have all packets of it.
//
//   memory: [stamps by parity and tensor] [values by parity and tensor], each tensor on 64 bytes
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/job/job.h"
#include "actors/parameters/parameter_table.h"
#include "runtime/actor/kept_memory.h"

namespace sterna::actors {

class Residuals {
 public:
  /// None of any tensor.
  Residuals() = default;
  Residuals(Residuals&&) = default;  // spans of its own memory move with it, and are not copied
  Residuals& operator=(Residuals&&) = default;
  /// All zero, in memory of this object's own, where each step's take the place of those before.
  Residuals(const JobConfig& job, const ParameterTable& table);
  /// In `bytes_of()` of kept memory from `first` on, with what lies there.
  Residuals(const JobConfig& job, const ParameterTable& table, const KeptMemory::Region& memory,
            std::size_t first);
  /// What one rank takes of kept memory.
  static std::size_t bytes_of(const JobConfig& job, const ParameterTable& table);
  /// Whether there is one of this tensor: its codec leaves something that is fed back.
  static bool has(const JobConfig& job, const TableTensor& tensor);

  bool none() const { return tensors_.empty(); }
  /// Whether they lie in memory that does.
  bool outlive_worker() const { return owner_ != nullptr; }
  bool has(std::uint32_t tensor) const {
    return tensor < tensors_.size() && !tensors_[tensor].newest().empty();
  }
  /// What the step that was begun last left; before any, what the first is to add.
  std::span<float> newest(std::uint32_t tensor) { return tensors_[tensor].newest(); }
  std::span<const float> newest(std::uint32_t tensor) const { return tensors_[tensor].newest(); }
  /// Of the step before the one that was begun; in memory of its own the same place as newest().
  std::span<const float> before(std::uint32_t tensor) const { return tensors_[tensor].before(); }

  /// What is newest is from here on what `step` leaves.
  void begin(std::uint64_t step);
  /// newest() is about to be written: it is of no step until it is stamped.
  void open(std::uint32_t tensor);
  /// All of newest() is as the begun step leaves it.
  void stamp(std::uint32_t tensor);
  /// Where the begun step had been begun before, from other parameters: what that one left stays of
  /// the chunks that had its packets, and of all others it is what this one left.
  void settle(const ParameterTable& table, std::span<const std::uint32_t> repeated);
  /// Whether all of newest() are what the step before `step` left, which is the first to be begun.
  bool whole_for(std::uint64_t step);
  /// What is newest is zero, or then written by the caller: the step before `step` left it so.
  void start_at(std::uint64_t step);
  /// What the step before `step` left is lost: it is zero from here on, and of `step` there is
  /// none.
  void zero_before(std::uint64_t step);

 private:
  struct Tensor {
    std::array<std::span<float>, 2> values;  ///< of even and of odd steps
    std::array<std::uint64_t*, 2> stamps{};  ///< 1 + the step; null: none are kept
    std::uint64_t parity = 0;                ///< which is the newest
    std::span<float> beside;  ///< what is written in this step, where `newest` has it already
    std::span<float> newest() const { return beside.empty() ? values[parity] : beside; }
    std::span<const float> before() const { return values[1 - parity]; }
    std::uint64_t* stamp() const { return stamps[parity]; }
  };
  void look_at(std::uint64_t parity);

  std::uint64_t stamp_ = 0;  // 1 + the step that was begun
  std::vector<Tensor> tensors_;
  std::vector<std::vector<float>> own_;  // by tensor: without kept memory all, else `beside`
  std::shared_ptr<void> owner_;
};

}  // namespace sterna::actors
