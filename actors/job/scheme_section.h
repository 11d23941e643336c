// [scheme]: the way in which ranks train together, as a cluster file chooses it, what is known of
// each way wherever a job is read, and which keys do not go together with it; and [[inject.delay]],
// by which one sees what slow ranks do to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/section.h"

namespace sterna::actors {

/// What all that read a job know of a scheme; the rest is its policies' (actors/schemes).
struct SchemeFacts {
  std::string_view name;
  bool windows = false;      ///< a rank makes scheme.window steps of its own between exchanges
  bool together = false;     ///< a version is made of all ranks' pushes, or of a quorum's
  bool differences = false;  ///< pushes are differences, which servers add: no optimizer is theirs
  bool elastic = false;      ///< ranks keep parameters of their own all the time (arXiv 1412.6651)
};

/// In the order of the help.
std::span<const SchemeFacts> scheme_facts();
/// Null where no scheme has this name.
const SchemeFacts* find_scheme_facts(std::string_view name);

enum class CombineRule : std::uint8_t {
  mean,
  sum,
  vote,  ///< of the codec "sign": the sign that most ranks have
};

enum class StalenessWeight : std::uint8_t {
  none,     ///< every gradient counts alike
  inverse,  ///< times 1 / (1 + staleness)
};

/// [scheme]
struct SchemeSection {
  std::string name = "sync";
  std::uint32_t quorum = 0;         ///< ranks whose gradients make a version; 0: all
  std::uint64_t window = 1;         ///< T: steps of a rank between exchanges
  std::int64_t max_staleness = -1;  ///< s: begun steps may be so far ahead of all; below 0: any
  StalenessWeight staleness_weight = StalenessWeight::none;
  CombineRule combine = CombineRule::mean;
  double moving_rate = 0.1;             ///< alpha, of elastic schemes
  double momentum = 0.9;                ///< delta, of aeamsgd
  std::vector<double> rank_rates = {};  ///< factors, by rank; empty: all 1
  bool operator==(const SchemeSection&) const = default;
};

Section<SchemeSection> scheme_section();

/// [[inject.delay]]: slow ranks, to see what a run does about them.
struct DelaySection {
  std::vector<std::uint32_t> ranks = {};
  Duration delay{};     ///< of each of their steps
  bool random = false;  ///< uniform from 0 to twice that, drawn from the job's seed
  bool operator==(const DelaySection&) const = default;
};
Section<DelaySection> delay_section();
/// How much later than it could a rank begins to compute a step: the sum of all that name it.
Duration delay_of(const std::vector<DelaySection>& delays, std::uint64_t seed, std::uint32_t rank,
                  std::uint64_t step);

/// Ranks, of so many, whose pushes make a version.
std::uint32_t counted_ranks(const SchemeSection& scheme, std::uint32_t ranks);
/// What one version takes, at `batch` examples a rank and step.
std::uint64_t examples_per_version(const SchemeSection& scheme, std::uint32_t batch,
                                   std::uint32_t ranks);

}  // namespace sterna::actors
