#include "actors/reader/preparation.h"

#include <fmt/format.h>

namespace sterna::actors {

input::FamilyOptions family_options(const JobConfig& job) {
  input::FamilyOptions options;
  options.shape = job.picture;
  for (std::size_t c = 0; c < options.mean.size(); ++c) {
    options.mean[c] = static_cast<float>(job.data.mean[c]);
    options.deviation[c] = static_cast<float>(job.data.deviation[c]);
  }
  options.most_pixels = job.data.most_pixels;
  return options;
}

Result<input::Preparation> preparation_of(const JobConfig& job, const input::SourceFacts& facts,
                                          std::uint64_t examples) {
  if (facts.classes > job.classes) {
    return Error{Errc::invalid_argument,
                 fmt::format("the data set has {} classes, but the job's net is built for {}: is "
                             "data.name another host's data set?",
                             facts.classes, job.classes)};
  }
  const bool own = job.data.preprocess != kAutoPreprocess;
  input::Preparation how;
  how.family = input::find_family(own ? std::string_view(job.data.preprocess) : facts.family);
  if (how.family == nullptr) {
    return Error{Errc::invalid_argument, "data.preprocess: there is no such family"};
  }
  how.options = family_options(job);
  how.bad = std::make_shared<input::BadExamples>(examples, job.data.most_bad);
  how.seed = job.seed;
  return how;
}

}  // namespace sterna::actors
