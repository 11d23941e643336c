#include "actors/job/job.h"

#include <cmath>
#include <limits>

namespace sterna::actors {
namespace {

/// An fp32 far from its denormals: 0 / (0 + epsilon) must stay 0.
constexpr double kSmallestEpsilon = 1e-30;

Error wrong(const char* what) { return {Errc::invalid_argument, what}; }

bool not_negative(double x) { return std::isfinite(x) && x >= 0; }

}  // namespace

Result<void> validate(const JobConfig& job) {
  constexpr std::uint64_t kMaxSteps = std::numeric_limits<std::uint32_t>::max();
  if (job.hidden.size() > kMostHiddenLayers) return wrong("hidden: at most 64 layers");
  for (const std::uint32_t width : job.hidden) {
    if (width == 0 || width > kWidestLayer) return wrong("hidden: each must be 1 to 65536");
  }
  // A step is one 32-bit word, a rank 16 bits, of the random numbers' counter.
  if (job.steps == 0 || job.steps > kMaxSteps) return wrong("steps: must be 1 to 4294967295");
  if (job.first_step >= job.steps) return wrong("steps: must be above the first step");
  if (job.ranks == 0 || job.ranks > 65536) return wrong("ranks: must be 1 to 65536");
  if (job.batch == 0 || job.batch > 65536) return wrong("batch: must be 1 to 65536");
  if (job.threads == 0 || job.threads > 1024) return wrong("threads: must be 1 to 1024");
  if (job.evaluation.batch == 0 || job.evaluation.batch > 65536) {
    return wrong("evaluator.batch: must be 1 to 65536");
  }
  if (job.evaluation.examples == 0) return wrong("evaluator.examples: must be at least 1");
  if (job.data.shards > kMostShards) return wrong("shards: at most 4096");
  if (!not_negative(job.optimizer.learning_rate)) {
    return wrong("optimizer.learning_rate: must be a number, not negative");
  }
  if (!not_negative(job.optimizer.momentum)) {
    return wrong("optimizer.momentum: must be a number, not negative");
  }
  for (const double beta : {job.optimizer.beta1, job.optimizer.beta2}) {
    if (!(beta >= 0 && beta < 1)) {
      return wrong("optimizer.beta1, optimizer.beta2: must be at least 0 and below 1");
    }
  }
  if (!std::isfinite(job.optimizer.epsilon) || job.optimizer.epsilon < kSmallestEpsilon) {
    return wrong("optimizer.epsilon: must be a number of at least 1e-30");
  }
  if (job.optimizer.name == "adam" && job.optimizer.schedule != "fixed") {
    return wrong("optimizer.schedule: adam adapts its own rate; it must be \"fixed\"");
  }
  if (!not_negative(job.optimizer.weight_decay)) {
    return wrong("optimizer.weight_decay: must be a number, not negative");
  }
  if (!not_negative(job.gradient.clip)) {
    return wrong("gradient.clip: must be a number, not negative");
  }
  if (job.gradient.down == Down::AVERAGE && !job.shares_scalers()) {
    return wrong("gradient.down = \"average\" needs scaler = \"shared\" or \"last_step\"");
  }
  if (job.gradient.down == Down::TERNARY && job.ranks == 65536) {
    return wrong("ranks: with gradient.down = \"ternary\" at most 65535");
  }
  if (job.gradient.tensors.size() > kMostTensorCodecs) {
    return wrong("gradient.tensors: at most 65536");
  }
  if (job.gradient.check_every == 0) return wrong("gradient.check_every: must be at least 1");
  if (!not_negative(job.gradient.clip_norm)) {
    return wrong("gradient.clip_norm: must be a number, not negative");
  }
  if (job.gradient.epoch_examples == 0) return wrong("an epoch without examples");
  if (job.deadlines.find <= Duration::zero() || job.deadlines.ask <= Duration::zero()) {
    return wrong("deadlines: must be positive");
  }
  return {};
}

void JobConfig::encode(Wire::Builder wire, WireWriter&) const {
  wire.setNet(net);
  auto widths = wire.initHidden(static_cast<unsigned>(hidden.size()));
  for (unsigned i = 0; i < widths.size(); ++i) widths.set(i, hidden[i]);
  wire.setFirstStep(first_step);
  wire.setSteps(steps);
  wire.setBatch(batch);
  wire.setSeed(seed);
  wire.setRanks(ranks);
  wire.setThreads(threads);
  wire.setIsa(isa);
  auto o = wire.initOptimizer();
  o.setName(optimizer.name);
  o.setLearningRate(optimizer.learning_rate);
  o.setMomentum(optimizer.momentum);
  o.setBeta1(optimizer.beta1);
  o.setBeta2(optimizer.beta2);
  o.setEpsilon(optimizer.epsilon);
  o.setWeightDecay(optimizer.weight_decay);
  o.setDecayAt(optimizer.decay_at);
  o.setSchedule(optimizer.schedule);
  o.setDecayFactor(optimizer.decay_factor);
  o.setDecaySteps(optimizer.decay_steps);
  auto g = wire.initGradient();
  g.setCodec(gradient.codec);
  g.setClip(gradient.clip);
  g.setMinSize(gradient.min_size);
  g.setLogits(gradient.logits);
  g.setScaler(gradient.scaler);
  g.setBuckets(gradient.buckets);
  g.setDown(gradient.down);
  g.setCheckEvery(gradient.check_every);
  auto tensors = g.initTensors(static_cast<unsigned>(gradient.tensors.size()));
  for (unsigned i = 0; i < tensors.size(); ++i) {
    tensors[i].setTensor(gradient.tensors[i].tensor);
    tensors[i].setCodec(gradient.tensors[i].codec);
  }
  g.setErrorFeedback(gradient.error_feedback);
  g.setClipNorm(gradient.clip_norm);
  g.setFloatingEpoch(gradient.floating_epoch);
  g.setEpochExamples(gradient.epoch_examples);
  auto e = wire.initEvaluation();
  e.setEvery(evaluation.every);
  e.setExamples(evaluation.examples);
  e.setBatch(evaluation.batch);
  auto d = wire.initData();
  d.setName(data.name);
  d.setDir(data.dir);
  d.setShards(data.shards);
  auto l = wire.initDeadlines();
  l.setFind(deadlines.find.count());
  l.setAsk(deadlines.ask.count());
}

Result<JobConfig> JobConfig::decode(Wire::Reader wire, WireReader&) {
  JobConfig job;
  job.net = wire.getNet();
  for (const std::uint32_t width : wire.getHidden()) job.hidden.push_back(width);
  job.first_step = wire.getFirstStep();
  job.steps = wire.getSteps();
  job.batch = wire.getBatch();
  job.seed = wire.getSeed();
  job.ranks = wire.getRanks();
  job.threads = wire.getThreads();
  job.isa = wire.getIsa();
  const auto o = wire.getOptimizer();
  job.optimizer = {.name = o.getName(),
                   .learning_rate = o.getLearningRate(),
                   .momentum = o.getMomentum(),
                   .beta1 = o.getBeta1(),
                   .beta2 = o.getBeta2(),
                   .epsilon = o.getEpsilon(),
                   .weight_decay = o.getWeightDecay(),
                   .decay_at = o.getDecayAt(),
                   .schedule = o.getSchedule(),
                   .decay_factor = o.getDecayFactor(),
                   .decay_steps = o.getDecaySteps()};
  const Error unknown{Errc::malformed,
                      "a job with an unknown codec, scaler or place of weight decay"};
  const auto g = wire.getGradient();
  job.gradient = {.codec = g.getCodec(),
                  .clip = g.getClip(),
                  .min_size = g.getMinSize(),
                  .logits = g.getLogits(),
                  .scaler = g.getScaler(),
                  .buckets = g.getBuckets(),
                  .down = g.getDown(),
                  .check_every = g.getCheckEvery(),
                  .tensors = {},
                  .error_feedback = g.getErrorFeedback(),
                  .clip_norm = g.getClipNorm(),
                  .floating_epoch = g.getFloatingEpoch(),
                  .epoch_examples = g.getEpochExamples()};
  for (const auto one : g.getTensors()) {
    if (!known_enum(one.getCodec(), Codec::TERNARY_ENTROPY)) return unknown;
    job.gradient.tensors.push_back({one.getTensor(), one.getCodec()});
  }
  const auto e = wire.getEvaluation();
  job.evaluation = {.every = e.getEvery(), .examples = e.getExamples(), .batch = e.getBatch()};
  const auto d = wire.getData();
  job.data = {.name = d.getName(), .dir = d.getDir(), .shards = d.getShards()};
  const auto l = wire.getDeadlines();
  job.deadlines = {.find = Duration(l.getFind()), .ask = Duration(l.getAsk())};
  if (!known_enum(job.optimizer.decay_at, DecayAt::SERVER) ||
      !known_enum(job.gradient.codec, Codec::TERNARY_ENTROPY) ||
      !known_enum(job.gradient.scaler, ScalerRule::LAST_STEP) ||
      !known_enum(job.gradient.down, Down::TERNARY)) {
    return unknown;
  }
  STERNA_TRY(validate(job));
  return job;
}

}  // namespace sterna::actors
