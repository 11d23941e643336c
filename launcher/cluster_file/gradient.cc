// What the keys of [gradient] say together: averages go down as sums of trits, so that there must
// be trits, and one number that all stand for.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/codecs/codec.h"
#include "launcher/cluster_file/draft.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

/// "a" or "b".
std::string codecs_of_trits() {
  std::string names;
  for (const std::string_view name : actors::codec_names()) {
    if (actors::makes_trits(name))
      names.append(names.empty() ? "\"" : " or \"").append(name).append("\"");
  }
  return names;
}

/// What "auto" chooses among: it must be able to leave a tensor as it is, and where sums of trits
/// travel down, some tensor must have trits.
void check_allowed(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const GradientSection& gradient = file.gradient;
  const std::vector<std::string>& allow = gradient.allow;
  const auto wrong = [&](const std::string& what) {
    problems.add(draft.where("gradient.allow"), fmt::format("\"gradient.allow\": {}", what));
  };
  const auto named = actors::codec_names();
  const std::vector<std::string> codecs(named.begin(), named.end());
  for (const std::string& codec : allow) {
    if (actors::find_codec(codec)) continue;
    wrong(fmt::format("there is no codec \"{}\"{}", codec, did_you_mean(codec, codecs)));
  }
  if (std::set<std::string>(allow.begin(), allow.end()).size() < allow.size()) {
    wrong("a codec is there twice");
  }
  if (std::find(allow.begin(), allow.end(), "none") == allow.end()) {
    wrong("\"none\" must be among them, for tensors that no codec makes faster");
  }
  const bool trits = std::any_of(allow.begin(), allow.end(), actors::makes_trits);
  if (gradient.codec == actors::kAutoCodec && gradient.down == actors::Down::average && !trits) {
    wrong("with \"gradient.down\" = \"average\", which sends sums of trits, it needs " +
          codecs_of_trits());
  }
}

void check_tensors(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const std::vector<std::string> tensors = trained_tensors(file);
  if (tensors.empty()) return;
  const auto named = actors::codec_names();
  const std::vector<std::string> codecs(named.begin(), named.end());
  const auto wrong = [&](std::string_view what) {
    problems.add(draft.where("gradient.tensors"), fmt::format("\"gradient.tensors\": {}", what));
  };
  for (const auto& [tensor, codec] : file.gradient.tensors) {
    if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) {
      wrong(fmt::format("{} has no tensor \"{}\"{}", file.job.net, tensor,
                        did_you_mean(tensor, tensors)));
    }
    if (!actors::find_codec(codec)) {
      wrong(fmt::format("there is no codec \"{}\"{}", codec, did_you_mean(codec, codecs)));
    }
  }
}

}  // namespace

void check_gradient(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const GradientSection& gradient = file.gradient;
  if (!gradient.tensors.empty()) check_tensors(draft, file, problems);
  if (draft.has("gradient.allow") || gradient.codec == actors::kAutoCodec)
    check_allowed(draft, file, problems);
  add_mismatch(draft, actors::mismatch(gradient), "gradient.codec", problems);
  const bool trits = gradient.codec == actors::kAutoCodec || actors::makes_trits(gradient.codec);
  const bool fed_down = gradient.down == actors::Down::ternary && gradient.down_feedback;
  if (trits && gradient.clip == 0 && (gradient.error_feedback || fed_down)) {
    problems.add(draft.where("gradient.clip"),
                 "\"gradient.clip\" = 0 lets a residual of trits grow without end; with "
                 "\"gradient.error_feedback\" or \"gradient.down\" = \"ternary\" it must be "
                 "more, e.g. 2.5");
  }
  const bool some_trits = trits || std::ranges::any_of(gradient.tensors, [](const auto& one) {
                            return actors::makes_trits(one.second);
                          });
  if (gradient.down == actors::Down::ternary && !some_trits) {
    problems.add(draft.where("gradient.down"),
                 fmt::format("\"gradient.down\" = \"ternary\" is of tensors that come up as trits: "
                             "\"gradient.codec\" must be {}, or \"gradient.down\" \"parameters\"",
                             codecs_of_trits()));
  }
  if (gradient.down != actors::Down::average) return;
  const auto needs = [&](std::string_view key, std::string_view value) {
    problems.add(draft.where("gradient.down"),
                 fmt::format("\"gradient.down\" = \"average\" sends sums of trits: {} must be {}",
                             key, value));
  };
  if (!trits) needs("\"gradient.codec\"", codecs_of_trits());
  if (gradient.scaler == actors::ScalerRule::own)
    needs("\"gradient.scaler\"", "\"shared\", \"last_step\" or \"mean\"");
}

}  // namespace sterna::launcher
