#include "actors/job/scheme_section.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "actors/job/sections.h"
#include "kernels/optimizer/optimizer.h"
#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

constexpr std::array kSchemes = {
    SchemeFacts{.name = "sync", .together = true},
    SchemeFacts{.name = "async"},
    SchemeFacts{.name = "downpour", .windows = true},
    SchemeFacts{.name = "agn", .windows = true},
    SchemeFacts{.name = "sagn", .windows = true, .together = true},
    SchemeFacts{.name = "local_sgd", .windows = true, .together = true, .differences = true},
    SchemeFacts{.name = "aeasgd", .windows = true, .differences = true, .elastic = true},
    SchemeFacts{.name = "aeamsgd", .windows = true, .differences = true, .elastic = true},
};

/// The names of those of which `is` is true.
template <class Is>
std::vector<std::string_view> names_of(Is is) {
  std::vector<std::string_view> names;
  for (const SchemeFacts& one : kSchemes) {
    if (is(one)) names.push_back(one.name);
  }
  return names;
}

Mismatch wrong(std::string_view key, std::string message) { return {key, std::move(message)}; }

/// What of the keys of [scheme] cannot be.
std::optional<Mismatch> own_mismatch(const SchemeSection& scheme, std::uint32_t ranks) {
  if (scheme.quorum > ranks) {
    return wrong("scheme.quorum",
                 fmt::format("\"scheme.quorum\" = {} of {} ranks: at most all can be waited for",
                             scheme.quorum, ranks));
  }
  if (!scheme.rank_rates.empty() && scheme.rank_rates.size() != ranks) {
    return wrong("scheme.rank_rates",
                 fmt::format("\"scheme.rank_rates\" has {} factors for {} ranks",
                             scheme.rank_rates.size(), ranks));
  }
  return std::nullopt;
}

/// What does not go with votes.
std::optional<Mismatch> vote_mismatch(const JobSections& job, bool all) {
  if (job.scheme.combine != CombineRule::vote) return std::nullopt;
  if (!job.scheme.rank_rates.empty()) {
    return wrong(
        "scheme.rank_rates",
        "\"scheme.rank_rates\" weigh gradients, and with \"scheme.combine\" = \"vote\" each "
        "rank has one voice; remove one of them");
  }
  if (!all && job.gradient.floating_grad_epoch > 0) {
    return wrong("gradient.floating_grad_epoch",
                 fmt::format("\"gradient.floating_grad_epoch\" needs all ranks where they vote "
                             "(\"scheme.combine\"): with a quorum of {} some would be in another "
                             "epoch than others; remove one of them",
                             job.scheme.quorum));
  }
  return std::nullopt;
}

/// What a version that not all ranks make, or not from the version before, cannot be.
std::optional<Mismatch> apart_mismatch(const JobSections& job, const SchemeFacts& facts) {
  const bool below = facts.together && !facts.windows;
  const std::string which =
      below ? fmt::format("a quorum of {}", job.scheme.quorum) : fmt::format("\"{}\"", facts.name);
  if (job.gradient.down == Down::average || job.gradient.down == Down::ternary) {
    return wrong("gradient.down",
                 fmt::format("\"gradient.down\" = \"average\" or \"ternary\" needs ranks that all "
                             "step from the same version, which those of {} do not; use "
                             "\"parameters\"",
                             which));
  }
  const bool all = facts.together && !below;
  // With a quorum the newest that is known will do.
  const bool none_to_wait_for = below && job.gradient.scaler == ScalerRule::last_step;
  if (job.gradient.scaler != ScalerRule::own && !all && !none_to_wait_for) {
    return wrong("gradient.scaler",
                 fmt::format("\"gradient.scaler\" must be {} with {}: a rank cannot wait for "
                             "scalers of ranks that are elsewhere",
                             below ? "\"own\" or \"last_step\"" : "\"own\"", which));
  }
  return std::nullopt;
}

/// What ranks whose gradients travel as one's cannot do.
std::optional<Mismatch> averaged_mismatch(const JobSections& job, const SchemeFacts& facts,
                                          std::uint32_t ranks) {
  const SchemeSection& scheme = job.scheme;
  if (job.gradient.host == HostRule::each) return std::nullopt;
  const bool all = scheme.quorum == 0 || scheme.quorum == ranks;
  if (!facts.together || facts.windows || !all) {
    return wrong("gradient.host",
                 fmt::format("\"gradient.host\" = \"average\" needs ranks that all step from the "
                             "same version, which those of {} do not; use \"each\"",
                             all ? fmt::format("\"{}\"", facts.name)
                                 : fmt::format("a quorum of {}", scheme.quorum)));
  }
  if (scheme.combine != CombineRule::mean || !scheme.rank_rates.empty()) {
    return wrong(
        "gradient.host",
        "\"gradient.host\" = \"average\" leaves no single ranks for \"scheme.rank_rates\", "
        "or \"scheme.combine\" = \"sum\" or \"vote\", to count; use \"each\"");
  }
  return std::nullopt;
}

}  // namespace

std::span<const SchemeFacts> scheme_facts() { return kSchemes; }

const SchemeFacts* find_scheme_facts(std::string_view name) {
  const auto found = std::ranges::find(kSchemes, name, &SchemeFacts::name);
  return found == kSchemes.end() ? nullptr : &*found;
}

std::uint32_t counted_ranks(const SchemeSection& scheme, std::uint32_t ranks) {
  if (!find_scheme_facts(scheme.name)->together) return 1;
  return scheme.quorum == 0 ? ranks : scheme.quorum;
}

std::uint64_t examples_per_version(const SchemeSection& scheme, std::uint32_t batch,
                                   std::uint32_t ranks) {
  return std::uint64_t{batch} * counted_ranks(scheme, ranks) * scheme.window;
}

Section<SchemeSection> scheme_section() {
  using S = SchemeSection;
  const auto of = [](Key<S> key, std::vector<std::string_view> owners) {
    key.owners = std::move(owners);
    return key;
  };
  const auto windows = names_of([](const SchemeFacts& one) { return one.windows; });
  const auto elastic = names_of([](const SchemeFacts& one) { return one.elastic; });
  return {
      "scheme",
      false,
      "the way in which ranks train together (docs/schemes.md)",
      {key("name", &S::name, "the way").one_of(names_of([](const SchemeFacts&) { return true; })),
       of(key("quorum", &S::quorum,
              "so many ranks' gradients make a version, the first that come; later ones are "
              "dropped; 0: all ranks'")
              .at_least(0)
              .at_most(65536),
          {"sync"}),
       of(key("window", &S::window, "steps that a rank makes by itself between two exchanges")
              .at_least(1)
              .at_most(65535),
          windows),
       of(key("max_staleness", &S::max_staleness,
              "a rank begins a step once all have done the step so many before it; -1: whenever "
              "it likes")
              .at_least(-1)
              .at_most(1e9),
          {"async"}),
       of(enum_key<&S::staleness_weight>(
              "staleness_weight", {"none", "inverse"},
              "inverse: a gradient counts 1 / (1 + the versions made since its parameters)"),
          {"async"}),
       of(enum_key<&S::combine>("combine", {"mean", "sum", "vote"},
                                "what the optimizer steps with, of the ranks' gradients; vote: of "
                                "each element the sign that most have, with the codec \"sign\" and "
                                "without feedback (arXiv 1810.05291)"),
          {"sync"}),
       of(key("moving_rate", &S::moving_rate,
              "by how much of their difference a rank and the servers move towards each other")
              .above(0)
              .at_most(1),
          elastic),
       of(key("momentum", &S::momentum, "of a rank's own steps (Nesterov's)").at_least(0).below(1),
          {"aeamsgd"}),
       key("rank_rates", &S::rank_rates,
           "a factor for each rank: of its own steps' rate, or where it makes none, of its "
           "gradients; empty: all 1")
           .above(0)}};
}

Duration delay_of(const std::vector<DelaySection>& delays, std::uint64_t seed, std::uint32_t rank,
                  std::uint64_t step) {
  Duration sum{};
  for (std::size_t i = 0; i < delays.size(); ++i) {
    const DelaySection& one = delays[i];
    if (std::ranges::count(one.ranks, rank) == 0) continue;
    if (!one.random) {
      sum += one.delay;
      continue;
    }
    constexpr std::uint64_t kRanks = 65536;
    SeededRandom random(seed ^ ((i << 48U) + step * kRanks + rank));
    sum += Duration(static_cast<std::int64_t>(
        random.below(2 * static_cast<std::uint64_t>(one.delay.count()) + 1)));
  }
  return sum;
}

Section<DelaySection> delay_section() {
  using S = DelaySection;
  return {"inject.delay",
          true,
          "ranks that are made slower, to see what a run does about it",
          {key("ranks", &S::ranks, "which, e.g. [7]").must_be_given(),
           key("delay", &S::delay, "by how much each of their steps begins later")
               .at_least(0)
               .at_most(86400)
               .must_be_given(),
           key("random", &S::random,
               "whether that is drawn for each step from the seed, up to twice as much")}};
}

namespace {

/// What needs servers.
std::optional<Mismatch> within_mismatch(const JobSections& job, bool in_step) {
  if (job.gradient.exchange == ExchangeRule::servers) return std::nullopt;
  const auto needs_servers = [](std::string_view key, std::string_view what) {
    return Mismatch{key, fmt::format("{}, and \"gradient.exchange\" = \"nccl\" has no servers; "
                                     "remove one of them",
                                     what)};
  };
  if (!in_step) {
    return Mismatch{
        "gradient.exchange",
        "\"gradient.exchange\" = \"nccl\" is for ranks in step: \"scheme.name\" must be "
        "\"sync\", without \"scheme.quorum\""};
  }
  if (job.gradient.down != Down::parameters) {
    return needs_servers("gradient.down", "\"gradient.down\" is what comes from servers");
  }
  if (job.gradient.host != HostRule::each) {
    return needs_servers("gradient.host",
                         "\"gradient.host\" = \"average\" is what a worker sends to servers");
  }
  if (job.gradient.codec == kAutoCodec) {
    return needs_servers("gradient.codec",
                         "\"gradient.codec\" = \"auto\" measures links to servers");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Mismatch> mismatch(const JobSections& job, std::uint32_t ranks) {
  for (const DelaySection& one : job.delays) {
    for (const std::uint32_t rank : one.ranks) {
      if (rank < ranks) continue;
      return wrong(
          "inject.delay",
          fmt::format("[[inject.delay]] names rank {}; the ranks are 0 to {}", rank, ranks - 1));
    }
  }
  const SchemeSection& scheme = job.scheme;
  const SchemeFacts* facts = find_scheme_facts(scheme.name);
  if (facts == nullptr) {
    return wrong("scheme.name", fmt::format("there is no scheme \"{}\"", scheme.name));
  }
  if (auto own = own_mismatch(scheme, ranks)) return own;
  if (scheme.window != 1 && !facts->windows) {
    return wrong("scheme.window", fmt::format("\"scheme.window\" = {}, and ranks of \"{}\" "
                                              "exchange at every step",
                                              scheme.window, facts->name));
  }
  if (!facts->windows && job.local_optimizer != OptimizerSection{}) {
    return wrong("local_optimizer", fmt::format("[local_optimizer] is of ranks that step by "
                                                "themselves, which those of \"{}\" do not; remove "
                                                "it",
                                                facts->name));
  }
  if (facts->windows && job.optimizer.decay_at == DecayAt::server) {
    return wrong("optimizer.decay_at",
                 fmt::format("\"optimizer.decay_at\" = \"server\" would decay once for all steps "
                             "of a window; with \"{}\" it must be \"worker\"",
                             facts->name));
  }
  const auto local = kernels::find_optimizer(job.local_optimizer.name);
  if (facts->windows && !facts->differences && local && local->decays &&
      job.optimizer.weight_decay > 0) {
    return wrong("local_optimizer.name",
                 fmt::format("\"local_optimizer.name\" = \"{}\" decays the weights apart from the "
                             "gradients, which are all that \"{}\" pushes; use another, or set "
                             "\"optimizer.weight_decay\" to 0",
                             local->name, facts->name));
  }
  if (facts->elastic && job.gradient.error_feedback) {
    return wrong("gradient.error_feedback",
                 fmt::format("\"gradient.error_feedback\" is not for \"{}\": what a codec leaves "
                             "stays in the rank's parameters already",
                             facts->name));
  }
  if (scheme.name == "aeamsgd" && job.local_optimizer.name != "gd") {
    return wrong("local_optimizer.name",
                 "\"aeamsgd\" has a momentum of its own: \"local_optimizer.name\" must be \"gd\"");
  }
  if (auto wrong = mismatch(job.gradient, scheme.combine)) return wrong;
  if (auto averaged = averaged_mismatch(job, *facts, ranks)) return averaged;
  const bool weighs = scheme.combine != CombineRule::mean || !scheme.rank_rates.empty();
  const bool averages = job.gradient.down == Down::average || job.gradient.down == Down::ternary;
  if (weighs && averages) {
    return wrong("gradient.down",
                 "\"gradient.down\" = \"average\" or \"ternary\" sends the plain average, which "
                 "\"scheme.rank_rates\" and \"scheme.combine\" = \"sum\" or \"vote\" do not make");
  }
  const bool all = scheme.quorum == 0 || scheme.quorum == ranks;
  if (auto votes = vote_mismatch(job, all)) return votes;
  const bool in_step = facts->together && !facts->windows && all;
  if (auto within = within_mismatch(job, in_step)) return within;
  if (in_step) return std::nullopt;
  return apart_mismatch(job, *facts);
}

}  // namespace sterna::actors
