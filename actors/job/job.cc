#include "actors/job/job.h"

#include "actors/codecs/codec.h"
#include "nets/zoo/zoo.h"

namespace sterna::actors {
namespace {

Error wrong(const char* what) { return {Errc::invalid_argument, what}; }

/// As it travels: nets for measuring do, too, which no file can name.
Section<JobSection> sent_job_section() {
  Section<JobSection> section = job_section();
  for (Key<JobSection>& key : section.keys) {
    if (key.name == "net") key.choices.clear();
  }
  return section;
}

/// Calls visit(keys, values) for all sections of `job`, in the order of the wire.
template <class Job, class Visit>
void for_all_sections(Job& job, Visit visit) {
  visit(sent_job_section(), job.section());
  for_each_section(job, visit);
  visit(deadlines_section(), job.deadlines);
}

}  // namespace

Result<void> validate(const JobConfig& job) {
  if (nets::find_net(job.net) == nullptr) return wrong("net: there is no such net");
  if (job.hidden.size() > kMostHiddenLayers) return wrong("hidden: at most 64 layers");
  if (job.first_step >= job.steps) return wrong("steps: must be above the first step");
  // A rank is 16 bits of the random numbers' counter.
  if (job.ranks == 0 || job.ranks > 65536) return wrong("ranks: must be 1 to 65536");
  if (job.shards > kMostShards) return wrong("shards: at most 4096");
  if (job.examples == 0) return wrong("an epoch without examples");
  if (const Complaint complaint = mismatch(job.optimizer)) return wrong(complaint->c_str());
  if (!find_codec(job.gradient.codec)) return wrong("gradient.codec: must be chosen");
  for (const auto& [tensor, codec] : job.gradient.tensors) {
    if (!find_codec(codec)) return wrong("gradient.tensors: an unknown codec");
  }
  if (job.gradient.down == Down::average && !job.shares_scalers()) {
    return wrong("gradient.down = \"average\" needs scaler = \"shared\" or \"last_step\"");
  }
  if (job.gradient.down == Down::ternary && job.ranks == 65536) {
    return wrong("ranks: with gradient.down = \"ternary\" at most 65535");
  }
  return {};
}

void JobConfig::encode(Wire::Builder wire, WireWriter&) const {
  std::string sections;
  for_all_sections(*this, [&]<class S>(const Section<S>& keys, const S& values) {
    append_section(sections, keys, values);
  });
  wire.setSections(sections);
  wire.setRanks(ranks);
  wire.setShards(shards);
  wire.setExamples(examples);
  wire.setFirstStep(first_step);
}

Result<JobConfig> JobConfig::decode(Wire::Reader wire, WireReader&) {
  JobConfig job;
  const auto sections = wire.getSections();
  SectionReader reader({sections.begin(), sections.size()});
  Result<void> read;
  for_all_sections(job, [&]<class S>(const Section<S>& keys, S& values) {
    if (read) read = reader.read(keys, values);
  });
  STERNA_TRY(read);
  if (!reader.at_end()) return Error{Errc::malformed, "a job with more than its sections"};
  job.ranks = wire.getRanks();
  job.shards = wire.getShards();
  job.examples = wire.getExamples();
  job.first_step = wire.getFirstStep();
  STERNA_TRY(validate(job));
  return job;
}

}  // namespace sterna::actors
