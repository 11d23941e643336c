#include "actors/job/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/codecs/codec.h"
#include "input/augment/family.h"
#include "input/formats/labels.h"
#include "input/place/data_set.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/optimizer/schedule.h"
#include "nets/zoo/zoo.h"

namespace sterna::actors {
namespace {

std::vector<std::string_view> codecs_and_auto() {
  std::vector<std::string_view> names = codec_names();
  names.push_back(kAutoCodec);
  return names;
}

std::vector<std::string_view> any_and_data_sets() {
  std::vector<std::string_view> names = input::data_set_names();
  names.insert(names.begin(), input::kAnyDataSet);
  return names;
}

std::vector<std::string_view> auto_and_families() {
  std::vector<std::string_view> names = input::family_names();
  names.insert(names.begin(), kAutoPreprocess);
  return names;
}

}  // namespace

Numbers initial_numbers() {
  Numbers numbers;
  for (const kernels::Optimizer& one : kernels::optimizers()) add_initial(numbers, one.keys);
  for (const kernels::Schedule& one : kernels::schedules()) add_initial(numbers, one.keys);
  return numbers;
}

std::optional<Mismatch> mismatch(const JobSection& chosen) {
  if (chosen.micro_batch == 0 || chosen.batch % chosen.micro_batch == 0) return std::nullopt;
  std::uint32_t divisor = std::min(chosen.micro_batch, chosen.batch);
  while (chosen.batch % divisor != 0) --divisor;
  return Mismatch{
      "job.micro_batch",
      fmt::format("\"job.micro_batch\" = {} does not divide \"job.batch\" = {}, as {} does",
                  chosen.micro_batch, chosen.batch, divisor)};
}

std::optional<Mismatch> mismatch(const OptimizerSection& chosen) {
  const auto optimizer = kernels::find_optimizer(chosen.name);
  if (!optimizer) return std::nullopt;
  if (optimizer->decays && chosen.weight_decay > 0 && chosen.decay_at != DecayAt::server) {
    return Mismatch{
        "optimizer.decay_at",
        fmt::format("with the optimizer \"{}\", which decays the weights apart from the "
                    "gradient, \"optimizer.decay_at\" must be \"server\", or "
                    "\"optimizer.weight_decay\" 0",
                    chosen.name)};
  }
  return std::nullopt;
}

namespace {

/// Whether some tensor may travel by a codec of this kind.
template <class Kind>
bool names_codec(const GradientSection& gradient, const Kind& is) {
  const auto named = [&](const std::string& name) {
    const std::optional<GradientCodec> codec = find_codec(name);
    return codec && is(*codec);
  };
  if (named(gradient.codec)) return true;
  if (gradient.codec == kAutoCodec && std::ranges::any_of(gradient.allow, named)) return true;
  return std::ranges::any_of(gradient.tensors, [&](const auto& one) { return named(one.second); });
}

bool names_codec(const GradientSection& gradient, Codec wire) {
  return names_codec(gradient, [&](const GradientCodec& codec) { return codec.wire == wire; });
}

}  // namespace

std::optional<Mismatch> mismatch(const GradientSection& chosen) {
  const GradientSection defaults;
  const bool rows = names_codec(chosen, Codec::ROWWISE);
  if (rows && 8 % chosen.bits != 0) {
    return Mismatch{"gradient.bits",
                    fmt::format("\"gradient.bits\" must be 1, 2, 4 or 8, not {}", chosen.bits)};
  }
  if (!rows && chosen.bits != defaults.bits) {
    return Mismatch{
        "gradient.bits",
        "\"gradient.bits\" is for the codec \"rowwise\", which no tensor has; remove it"};
  }
  if (!names_codec(chosen, Codec::TOPK) && chosen.density != defaults.density) {
    return Mismatch{
        "gradient.density",
        "\"gradient.density\" is for the codec \"topk\", which no tensor has; remove it"};
  }
  if (!chosen.down_feedback && chosen.down != Down::ternary) {
    return Mismatch{"gradient.down_feedback",
                    "\"gradient.down_feedback\" is for \"gradient.down\" = \"ternary\"; remove it"};
  }
  if (chosen.residuals != defaults.residuals && !chosen.error_feedback) {
    return Mismatch{"gradient.residuals",
                    "\"gradient.residuals\" is for \"gradient.error_feedback\" = true; remove it"};
  }
  return std::nullopt;
}

std::optional<Mismatch> mismatch(const GradientSection& chosen, CombineRule combine) {
  const bool votes = combine == CombineRule::vote;
  if (votes && chosen.codec != "sign") {
    return Mismatch{"scheme.combine",
                    "\"scheme.combine\" = \"vote\" is for \"gradient.codec\" = \"sign\""};
  }
  if (votes && chosen.error_feedback) {
    return Mismatch{"gradient.error_feedback",
                    "\"gradient.error_feedback\" is not for \"scheme.combine\" = \"vote\": a rank "
                    "does not know what its voice came to"};
  }
  if (!chosen.error_feedback && names_codec(chosen, [&](const GradientCodec& codec) {
        return codec.biased && !(votes && codec.wire == Codec::SIGN);
      })) {
    return Mismatch{"gradient.codec",
                    "the codecs \"sign\" and \"topk\" are wrong on average: they need "
                    "\"gradient.error_feedback\" = true, or \"sign\" a vote (\"scheme.combine\")"};
  }
  return std::nullopt;
}

Section<JobSection> job_section() {
  using S = JobSection;
  return {"job",
          false,
          "what is trained; needed where an actor has a role",
          {key("net", &S::net, "the net").one_of(nets::trainable_names()).must_be_given(),
           key("hidden", &S::hidden, "widths of the mlp's hidden layers, e.g. [4096, 512]")
               .defaults_to("[300, 100] for the mlp")
               .at_least(1)
               .at_most(kWidestLayer),
           key("steps", &S::steps, "updates of the parameters")
               .at_least(1)
               .at_most(kMostSteps)
               .defaults_to("must be given, or epochs"),
           key("epochs", &S::epochs,
               "in place of steps: so many times all training examples, up to a whole step")
               .at_least(0)
               .at_most(1e6)
               .defaults_to("as steps says"),
           key("batch", &S::batch, "examples per rank and step").at_least(1).at_most(65536),
           key("micro_batch", &S::micro_batch,
               "examples that are computed at once, which divide the batch: less memory; 0: all")
               .at_least(0)
               .at_most(65536),
           key("seed", &S::seed, "of parameters, batches and rounding").at_least(0),
           key("threads", &S::threads, "compute threads per rank; part of what is reproducible")
               .at_least(1)
               .at_most(1024),
           key("cpu_isa", &S::cpu_isa,
               "the highest instruction set to use; decides the last bits of a net's sums")
               .one_of({"best", "avx512", "avx2", "scalar"}),
           enum_key<&S::precision>(
               "precision", {"fp32", "bf16", "tf32"},
               "of activations and their gradients; bf16, half the bytes, needs a GPU, or a CPU "
               "with AVX512-BF16 or AMX; tf32 (10 bits of mantissa) is what products and "
               "convolutions on GPUs round fp32s to that they multiply; parameters, their "
               "gradients and the loss are fp32 always")}};
}

Section<DataSection> data_section() {
  using S = DataSection;
  return {"data",
          false,
          "where the examples come from",
          {key("name", &S::name, "the data set; any: the first that is found")
               .one_of(any_and_data_sets()),
           key("dir", &S::dir, "its folder").defaults_to("$STERNA_DATA, then ~/.cache/sterna"),
           key("preprocess", &S::preprocess,
               "how pictures are cropped, resized and changed on their way to the net; auto: as "
               "suits the data set; docs/preprocessing.md says what each does")
               .one_of(auto_and_families()),
           key("size", &S::size,
               "rows and columns of the pictures that the net sees; 0: as the preprocessing has it")
               .at_least(0)
               .at_most(kLongestSide),
           key("channels", &S::channels,
               "of the pictures that the net sees: 1 (grey) or 3; 0: as the data set has them")
               .at_least(0)
               .at_most(3),
           key("classes", &S::classes, "of the labels; 0: as the data set says")
               .at_least(0)
               .at_most(input::kMostClasses),
           key("label_offset", &S::label_offset,
               "what labels in TFRecord files are above those the net sees: 1 where 0 is the "
               "background, and none is wanted")
               .at_least(0)
               .at_most(input::kMostClasses),
           key("train_files", &S::train_files,
               "a pattern for the names of TFRecord files to train on, e.g. "
               "\"flowers_train_*\"")
               .defaults_to("those with \"train\" in their names"),
           key("test_files", &S::test_files, "the same for those to test with")
               .defaults_to("those with \"validation\", \"valid\", \"val\" or \"test\""),
           key("mean", &S::mean,
               "of red, green and blue (of grey: the first) from 0 to 1, which \"resize_crop\" "
               "takes off; ImageNet's: [0.485, 0.456, 0.406]"),
           key("deviation", &S::deviation,
               "by which \"resize_crop\" then divides; ImageNet's: [0.229, 0.224, 0.225]")
               .above(0),
           key("most_pixels", &S::most_pixels,
               "a picture with more is damaged: the next of its file stands for it")
               .at_least(1)
               .at_most(std::uint64_t{1} << 30),
           key("most_bad", &S::most_bad,
               "the part of the examples that a reader holds that may be damaged")
               .at_least(0)
               .at_most(1),
           key("threads", &S::threads, "in which each reader decodes and prepares pictures")
               .at_least(1)
               .at_most(1024),
           key("memory", &S::memory,
               "what the pictures may take that a reader has prepared and not sent yet; empty: no "
               "limit")}};
}

Section<NetSection> net_section() {
  using S = NetSection;
  return {"net",
          false,
          "what may be chosen of a net beside its name",
          {key("keep", &S::keep, "the part of the units that dropout keeps; 1: there is none")
               .above(0)
               .at_most(1),
           key("bn_scale", &S::bn_scale,
               "whether batch norms have a factor for each channel where the original's have none"),
           key("pool_padding", &S::pool_padding,
               "whether average pools count the padding as zeros, as torchvision's inception_v3 "
               "does, where the original's leave it out"),
           key("bn_decay", &S::bn_decay,
               "of batch norms' moving statistics so much stays in a step, at first (1 + step) / "
               "(10 + step); 0: as the original has it")
               .at_least(0)
               .below(1),
           key("label_smoothing", &S::label_smoothing,
               "the part of each label that is spread over all classes; -1: as the original has it")
               .at_least(-1)
               .below(1)}};
}

bool means(std::string_view name, std::string_view tensor) {
  if (!tensor.starts_with(name)) return false;
  return tensor.size() == name.size() || tensor[name.size()] == '/';
}

bool InitSection::skips(std::string_view tensor) const {
  return std::ranges::any_of(skip, [&](const auto& name) { return means(name, tensor); });
}

bool InitSection::trains(std::string_view tensor) const {
  return train_only.empty() ||
         std::ranges::any_of(train_only, [&](const auto& name) { return means(name, tensor); });
}

Section<InitSection> init_section() {
  using S = InitSection;
  return {"init",
          false,
          "what the parameters are before the first step, and which are trained",
          {key("from", &S::from,
               "a safetensors file, a checkpoint, or a run's directory, of which the newest is "
               "taken; on each host with a parameter server at this place, or in that host's data "
               "folder by the name of what was taken; what is not in it is drawn from the seed")
               .defaults_to("none: all are drawn"),
           key("names", &S::names,
               "what the file calls its tensors: torchvision's names of resnet50 (resnet_50) and "
               "inception_v3 are known, too")
               .one_of({kOwnNames, kTorchvisionNames}),
           key("skip", &S::skip,
               "tensors that are drawn all the same, e.g. [\"logits\"] for other classes; a name "
               "means all that begin with it and a \"/\""),
           key("train_only", &S::train_only,
               "tensors that change; the others stay as they are, but for batch norms' moving "
               "statistics; empty: all change")}};
}

namespace {

using OptimizerKeys = std::vector<Key<OptimizerSection>>;

/// The rule, its rate, and the keys of all rules.
void append_rule(OptimizerKeys& keys) {
  using S = OptimizerSection;
  keys = {key("name", &S::name, "the rule").one_of(kernels::optimizer_names()),
          key("learning_rate", &S::learning_rate, "at step 0").above(0)};
  for (const kernels::Optimizer& one : kernels::optimizers()) {
    append_keys(keys, one.keys, &S::numbers, one.name);
  }
}

void append_schedule(OptimizerKeys& keys) {
  using S = OptimizerSection;
  keys.push_back(key("schedule", &S::schedule,
                     "of the learning rate; polynomial: (1 - step/steps)^power, down to the end")
                     .one_of(kernels::schedule_names()));
  keys.push_back(key("warm_up", &S::warm_up,
                     "steps in which the rate grows by the line from 0 to the schedule's; 0: none")
                     .at_least(0)
                     .at_most(kMostSteps));
}

/// Files have always been free to keep the keys of a schedule that they do not use.
void append_schedules_keys(OptimizerKeys& keys) {
  for (const kernels::Schedule& one : kernels::schedules()) {
    append_keys(keys, one.keys, &OptimizerSection::numbers, "");
  }
}

}  // namespace

Section<OptimizerSection> local_optimizer_section() {
  Section<OptimizerSection> section{
      "local_optimizer", false, "how ranks step by themselves, in schemes where they do", {}};
  append_rule(section.keys);
  append_schedule(section.keys);
  append_schedules_keys(section.keys);
  return section;
}

Section<OptimizerSection> optimizer_section() {
  using S = OptimizerSection;
  Section<S> section{"optimizer", false, "how the averaged gradient changes the parameters", {}};
  std::vector<Key<S>>& keys = section.keys;
  append_rule(keys);
  keys.push_back(key("weight_decay", &S::weight_decay, "of weights, never of biases").at_least(0));
  append_schedule(keys);
  keys.push_back(key("scale_by_ranks", &S::scale_by_ranks,
                     "whether all rates are times the number of ranks, whose batch is as much "
                     "larger than one's"));
  keys.push_back(enum_key<&S::decay_at>(
      "decay_at", {"worker", "server"},
      "weight decay before ternarizing (worker) or after averaging (server, as adamw's must)"));
  keys.push_back(
      key("average_decay", &S::average_decay,
          "moving averages of the parameters are kept beside them, of which so much stays in a "
          "step, at first (1 + step) / (10 + step); evaluations and the weights file are "
          "of them; 0: none are kept")
          .at_least(0)
          .below(1));
  append_schedules_keys(keys);
  return section;
}

Section<GradientSection> gradient_section() {
  using S = GradientSection;
  return {
      "gradient",
      false,
      "what travels from workers to servers",
      {key("codec", &S::codec,
           "none: fp32; ternary: 2 bits per element; ternary_entropy: the same coded in fewer; "
           "bf16; rowwise: gradient.bits per element; sign: 1 bit; topk: the gradient.density that "
           "is largest; auto: for each tensor the fastest, measured when the run starts")
           .one_of(codecs_and_auto()),
       key("allow", &S::allow,
           "what auto chooses among, none included: where no other is faster than fp32 it takes "
           "that"),
       key("tensors", &S::tensors,
           "another codec for some tensors, e.g. { \"fc3/weights\" = \"none\" }"),
       key("bits", &S::bits,
           "rowwise: of an element between the least and the largest of its 1,024: 1, 2, 4 or 8")
           .at_least(1)
           .at_most(8),
       key("density", &S::density, "topk: the part of the elements that is sent")
           .above(0)
           .at_most(1),
       key("clip", &S::clip,
           "the scaler is so many standard deviations, also where nothing is as large, and what is "
           "larger is clipped to it; 0: it is the largest magnitude")
           .at_least(0),
       key("min_size", &S::min_size, "tensors of fewer elements stay fp32").at_least(1),
       key("logits", &S::logits, "whether the last layer is ternarized too"),
       enum_key<&S::exchange>(
           "exchange", {"servers", "nccl"},
           "where gradients meet: at parameter servers; nccl: within the one worker that there is "
           "then, among its devices (on a CPU in its memory), and there are no servers"),
       enum_key<&S::host>(
           "host", {"each", "average"},
           "each: every rank's gradient travels; average: those of a worker's ranks (actor.ranks, "
           "as many in each worker) are averaged in fp32, and travel as one rank's: so much fewer "
           "bytes up"),
       enum_key<&S::scaler>(
           "scaler", {"own", "shared", "last_step", "mean"},
           "own: each rank's; shared: the largest of all ranks'; last_step: the largest of all "
           "ranks' a step before, for which nobody waits; mean: the mean of all ranks'"),
       key("buckets", &S::buckets, "a scaler for each 65,536 elements, not for each tensor"),
       key("error_feedback", &S::error_feedback,
           "whether what a codec leaves of a gradient is added to the rank's next one; trits then "
           "stand for 1/clip as much"),
       enum_key<&S::residuals>(
           "residuals", {"rollback", "zero"},
           "where what error_feedback keeps of a rank is lost with its host: rollback: all go on "
           "from the last checkpoint, which has it; zero, and where ranks are not in step: the "
           "rank goes on without, which is told and promises no equal bits"),
       key("clip_norm", &S::clip_norm,
           "a rank's whole gradient is scaled down to this norm before it is packed; 0: never")
           .at_least(0),
       key("floating_grad_epoch", &S::floating_grad_epoch,
           "in every N-th epoch gradients travel as fp32; 0: never")
           .at_least(0),
       enum_key<&S::down>(
           "down", {"parameters", "parameters_bf16", "average", "ternary"},
           "what workers get: parameters; average: the gradients' exact average, which they apply "
           "themselves (needs a shared scaler); ternary: that average ternarized again"),
       key("down_feedback", &S::down_feedback,
           "down = ternary: whether what it leaves of an average is added to the next one; trits "
           "then stand for 1/clip as much"),
       key("check_every", &S::check_every,
           "down = average or ternary: steps after which all compare hashes of their parameters")
           .at_least(1)}};
}

Section<CheckpointSection> checkpoint_section() {
  using S = CheckpointSection;
  return {
      "checkpoint",
      false,
      "what is kept of a run beside training, so that it can go on; where it is kept, the end "
      "is, too",
      {key("every_steps", &S::every_steps, "steps between checkpoints; 0: none by steps")
           .at_least(0),
       key("every_seconds", &S::every_seconds, "seconds between checkpoints; 0: none by time")
           .at_least(0)
           .at_most(1e9),
       key("keep", &S::keep, "the newest so many are kept").at_least(1).at_most(1000000),
       key("best", &S::best,
           "whether the one of the highest precision@1 is kept as well, of those whose step is "
           "evaluated; of those that evaluator.examples measured, and of those that all examples "
           "did, each"),
       key("copies", &S::copies,
           "of each checkpoint so many lie whole on another machine, in the run's folder there: "
           "with "
           "1 the disk of the head may be lost; needs a server or a worker on another host")
           .at_most(1),
       key("folder", &S::folder, "where they lie; of several hosts a folder that all share")
           .defaults_to("checkpoints, in the run's directory"),
       key("resume", &S::resume,
           "true: go on from the newest checkpoint of the run's own directory, if it has one; "
           "or the path of a run's directory or of one checkpoint"),
       key("restarts", &S::restarts,
           "so often a run that loses an actor (killed, silent, its host gone) starts all of "
           "them again and goes on from its newest checkpoint; at most three times from the same")
           .at_most(1000000)}};
}

Section<SummarySection> summary_section() {
  using S = SummarySection;
  return {"summary",
          false,
          "what TensorBoard is told of a run",
          {key("tensorboard", &S::tensorboard,
               "write the run's metrics, while it goes on, into a file of its directory that "
               "TensorBoard follows; `sterna export --to tensorboard` does so afterwards"),
           key("every", &S::every,
               "steps between its histograms of rank 0: weights, gradients, what was sent of "
               "those, and activations, with the first pictures of its batch; 0: none")
               .at_least(0)}};
}

Section<DeadlinesSection> deadlines_section() {
  using S = DeadlinesSection;
  return {
      "deadlines",
      false,
      "how long the parts of a run may take before it is given up",
      {key("host", &S::host, "one host: from the command to its node agent there")
           .at_least(kShortestDeadline),
       key("start", &S::start, "from the command to all actors ready").at_least(kShortestDeadline),
       key("step", &S::step,
           "one question that waits for no rank to compute: a batch, a push, a comparison; a step "
           "may take as long as it takes")
           .at_least(kShortestDeadline)}};
}

}  // namespace sterna::actors
