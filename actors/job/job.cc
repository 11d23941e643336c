#include "actors/job/job.h"

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "input/formats/labels.h"
#include "kernels/optimizer/optimizer.h"
#include "nets/net_options.h"
#include "nets/zoo/zoo.h"
#include "runtime/base/byte_size.h"

namespace sterna::actors {
namespace {

Error wrong_job(const char* what) { return {Errc::invalid_argument, what}; }

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

Complaint too_large_a_batch(const JobConfig& job) {
  const std::uint64_t most = job.data.memory.count;
  const std::uint64_t bytes = job.batch_bytes();
  if (most == 0 || bytes <= most) return std::nullopt;
  const std::uint64_t fitting = most / (bytes / job.batch);
  constexpr std::uint64_t kMega = 1'000'000;
  const std::string smaller =
      fitting == 0 ? "" : fmt::format(", or job.batch to at most {}", fitting);
  return fmt::format(
      "data.memory = \"{}\" is too little for a batch of {} pictures of {} x {}: set it to at "
      "least "
      "\"{}\"{}",
      byte_size_text(most), job.batch, job.picture.rows, job.picture.columns,
      byte_size_text((bytes + kMega - 1) / kMega * kMega), smaller);
}

Result<void> validate(const JobConfig& job) {
  if (nets::find_net(job.net) == nullptr) return wrong_job("net: there is no such net");
  if (job.hidden.size() > kMostHiddenLayers) return wrong_job("hidden: at most 64 layers");
  if (job.first_step >= job.steps) return wrong_job("steps: must be above the first step");
  // A rank is 16 bits of the random numbers' counter.
  if (job.ranks == 0 || job.ranks > 65536) return wrong_job("ranks: must be 1 to 65536");
  if (job.averaged_ranks == 0 || job.ranks % job.averaged_ranks != 0) {
    return wrong_job("averaged_ranks: must divide the ranks");
  }
  if (job.averaged_ranks > 1 && job.gradient.host != HostRule::average) {
    return wrong_job("averaged_ranks: gradient.host = \"each\" averages none");
  }
  if (job.shards > kMostShards) return wrong_job("shards: at most 4096");
  if (job.examples == 0) return wrong_job("an epoch without examples");
  const input::PictureShape& picture = job.picture;
  if (picture.rows == 0 || picture.rows > kLongestSide || picture.columns == 0 ||
      picture.columns > kLongestSide) {
    return wrong_job("pictures: must have 1 to 4096 rows and columns");
  }
  if (picture.channels != 1 && picture.channels != 3)
    return wrong_job("pictures: of 1 or 3 channels");
  if (job.data.mean.size() != 3 || job.data.deviation.size() != 3) {
    return wrong_job("data.mean and data.deviation: must be of red, green and blue");
  }
  if (job.classes == 0 || job.classes > input::kMostClasses)
    return wrong_job("classes: must be 1 to 65536");
  if (const Complaint complaint = too_large_a_batch(job)) return wrong_job(complaint->c_str());
  if (job.batch == 0) return wrong_job("batch: must be at least 1");
  if (const auto wrong = mismatch(static_cast<const JobSection&>(job))) {
    return wrong_job(wrong->message.c_str());
  }
  if (const auto wrong = mismatch(job.optimizer)) return wrong_job(wrong->message.c_str());
  if (const auto wrong = mismatch(job.evaluation, job.optimizer)) {
    return wrong_job(wrong->message.c_str());
  }
  if (const auto wrong = mismatch(job.trace, job.steps)) return wrong_job(wrong->message.c_str());
  if (const auto wrong = mismatch(job, job.ranks)) return wrong_job(wrong->message.c_str());
  if (!find_codec(job.gradient.codec)) return wrong_job("gradient.codec: must be chosen");
  for (const auto& [tensor, codec] : job.gradient.tensors) {
    if (!find_codec(codec)) return wrong_job("gradient.tensors: an unknown codec");
  }
  if (const auto wrong = mismatch(job.gradient)) return wrong_job(wrong->message.c_str());
  if (job.gradient.down == Down::average && !job.shares_scalers()) {
    return wrong_job("gradient.down = \"average\" needs a scaler that ranks share");
  }
  if (job.gradient.down == Down::ternary && job.ranks == 65536) {
    return wrong_job("ranks: with gradient.down = \"ternary\" at most 65535");
  }
  return {};
}

bool JobConfig::ranks_begin_anew() const {
  if (in_step() || facts().elastic || shares_scalers()) return false;
  if (!facts().windows) return true;
  const auto rule = kernels::find_optimizer(local_optimizer.name);
  return rule && rule->slots.empty();
}

nets::NetOptions net_options(const JobConfig& job) {
  const NetSection& chosen = job.net_choices;
  return {.name = job.net,
          .images = job.images(),
          .hidden = job.hidden,
          .batch = job.batch,
          .micro_batch = job.micro_batch,
          .keep = static_cast<float>(chosen.keep),
          .bn_scale = chosen.bn_scale,
          .pool_padding = chosen.pool_padding,
          .bn_decay = static_cast<float>(chosen.bn_decay),
          .label_smoothing = static_cast<float>(chosen.label_smoothing),
          .backend = {.threads = static_cast<int>(job.threads),
                      .isa = job.cpu_isa,
                      .precision = job.precision == Precision::bf16 ? nets::Element::bf16
                                                                    : nets::Element::fp32,
                      .tf32 = job.precision == Precision::tf32}};
}

void JobConfig::encode(Wire::Builder wire, WireWriter&) const {
  std::string sections;
  for_all_sections(
      *this, [&](const auto& keys, const auto& values) { append_section(sections, keys, values); });
  wire.setSections(sections);
  wire.setRanks(ranks);
  wire.setAveragedRanks(averaged_ranks);
  wire.setShards(shards);
  wire.setExamples(examples);
  wire.setFirstStep(first_step);
  wire.setFirstPosition(first_position);
  wire.setResumes(resumes);
  wire.setRestartsWorkers(restarts_workers);
  wire.setRestartsServers(restarts_servers);
  wire.setRows(picture.rows);
  wire.setColumns(picture.columns);
  wire.setChannels(picture.channels);
  wire.setClasses(classes);
}

Result<JobConfig> JobConfig::decode(Wire::Reader wire, WireReader&) {
  JobConfig job;
  const auto sections = wire.getSections();
  SectionReader reader({sections.begin(), sections.size()});
  Result<void> read;
  for_all_sections(job, [&](const auto& keys, auto& values) {
    if (read) read = reader.read(keys, values);
  });
  STERNA_TRY(read);
  if (!reader.at_end()) return Error{Errc::malformed, "a job with more than its sections"};
  job.ranks = wire.getRanks();
  job.averaged_ranks = wire.getAveragedRanks();
  job.shards = wire.getShards();
  job.examples = wire.getExamples();
  job.first_step = wire.getFirstStep();
  job.first_position = wire.getFirstPosition();
  job.resumes = wire.getResumes();
  job.restarts_workers = wire.getRestartsWorkers();
  job.restarts_servers = wire.getRestartsServers();
  job.picture = {wire.getRows(), wire.getColumns(), wire.getChannels()};
  job.classes = wire.getClasses();
  STERNA_TRY(validate(job));
  return job;
}

}  // namespace sterna::actors
