#include "actors/job/sections.h"

#include <fmt/format.h>

#include "actors/codecs/codec.h"
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
  names.insert(names.begin(), "any");
  return names;
}

}  // namespace

Numbers initial_numbers() {
  Numbers numbers;
  for (const kernels::Optimizer& one : kernels::optimizers()) add_initial(numbers, one.keys);
  for (const kernels::Schedule& one : kernels::schedules()) add_initial(numbers, one.keys);
  return numbers;
}

Complaint mismatch(const OptimizerSection& chosen) {
  const auto optimizer = kernels::find_optimizer(chosen.name);
  if (!optimizer || optimizer->schedule.empty() || optimizer->schedule == chosen.schedule) {
    return std::nullopt;
  }
  return fmt::format(
      "with the optimizer \"{}\", which adapts its own rate, \"optimizer.schedule\" must be \"{}\"",
      chosen.name, optimizer->schedule);
}

Section<JobSection> job_section() {
  using S = JobSection;
  return {"job",
          false,
          "what is trained; needed where an actor has a role",
          {key("net", &S::net, "the net").one_of(nets::net_names()).must_be_given(),
           key("hidden", &S::hidden, "widths of the mlp's hidden layers, e.g. [4096, 512]")
               .defaults_to("[300, 100] for the mlp")
               .at_least(1)
               .at_most(kWidestLayer),
           key("steps", &S::steps, "updates of the parameters")
               .at_least(1)
               .at_most(1e9)
               .must_be_given(),
           key("batch", &S::batch, "examples per rank and step").at_least(1).at_most(65536),
           key("seed", &S::seed, "of parameters, batches and rounding").at_least(0),
           key("threads", &S::threads, "compute threads per rank; part of what is reproducible")
               .at_least(1)
               .at_most(1024),
           key("cpu_isa", &S::cpu_isa, "the highest instruction set to use")
               .one_of({"best", "avx512", "avx2", "scalar"})}};
}

Section<DataSection> data_section() {
  using S = DataSection;
  return {"data",
          false,
          "where the examples come from",
          {key("name", &S::name, "the data set; any: the first that is found")
               .one_of(any_and_data_sets()),
           key("dir", &S::dir, "its folder").defaults_to("$STERNA_DATA, then ~/.cache/sterna")}};
}

Section<OptimizerSection> optimizer_section() {
  using S = OptimizerSection;
  Section<S> section{"optimizer", false, "how the averaged gradient changes the parameters", {}};
  std::vector<Key<S>>& keys = section.keys;
  keys = {key("name", &S::name, "the rule").one_of(kernels::optimizer_names()),
          key("learning_rate", &S::learning_rate, "at step 0").above(0)};
  for (const kernels::Optimizer& one : kernels::optimizers()) {
    append_keys(keys, one.keys, &S::numbers, one.name);
  }
  keys.push_back(key("weight_decay", &S::weight_decay, "of weights, never of biases").at_least(0));
  keys.push_back(key("schedule", &S::schedule,
                     "of the learning rate; polynomial: (1 - step/steps)^0.5, down to 0")
                     .one_of(kernels::schedule_names()));
  keys.push_back(enum_key<&S::decay_at>(
      "decay_at", {"worker", "server"},
      "weight decay before ternarizing (worker) or after averaging (server)"));
  // Files have always been free to keep the keys of a schedule that they do not use.
  for (const kernels::Schedule& one : kernels::schedules()) {
    append_keys(keys, one.keys, &S::numbers, "");
  }
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
           "bf16; auto: for each tensor the fastest, measured when the run starts")
           .one_of(codecs_and_auto()),
       key("allow", &S::allow,
           "what auto chooses among, none included: where no other is faster than fp32 it takes "
           "that"),
       key("tensors", &S::tensors,
           "another codec for some tensors, e.g. { \"fc3/weights\" = \"none\" }"),
       key("clip", &S::clip,
           "clip at so many standard deviations; 0: never, the scaler is the largest magnitude")
           .at_least(0),
       key("min_size", &S::min_size, "tensors of fewer elements stay fp32").at_least(1),
       key("logits", &S::logits, "whether the last layer is ternarized too"),
       enum_key<&S::scaler>(
           "scaler", {"own", "shared", "last_step"},
           "own: each rank's; shared: the largest of all ranks'; last_step: the largest of all "
           "ranks' a step before, for which nobody waits"),
       key("buckets", &S::buckets, "a scaler for each 65,536 elements, not for each tensor"),
       key("error_feedback", &S::error_feedback,
           "whether what a codec leaves of a gradient is added to the rank's next one; trits then "
           "stand for 1/clip as much"),
       key("clip_norm", &S::clip_norm,
           "a rank's whole gradient is scaled down to this norm before it is packed; 0: never")
           .at_least(0),
       key("floating_grad_epoch", &S::floating_grad_epoch,
           "every so manyth epoch gradients travel as fp32; 0: never")
           .at_least(0),
       enum_key<&S::down>(
           "down", {"parameters", "parameters_bf16", "average", "ternary"},
           "what workers get: parameters; average: the gradients' exact average, which they apply "
           "themselves (needs a shared scaler); ternary: that average ternarized again"),
       key("check_every", &S::check_every,
           "down = average or ternary: steps after which all compare hashes of their parameters")
           .at_least(1)}};
}

Section<EvaluationSection> evaluation_section() {
  using S = EvaluationSection;
  return {"evaluator",
          false,
          "precision@1 while training goes on; the end is always evaluated, on all test examples",
          {key("every", &S::every, "steps between evaluations; 0: only at the end").at_least(0),
           key("examples", &S::examples, "test examples used while training goes on").at_least(1),
           key("batch", &S::batch, "test examples per forward pass").at_least(1).at_most(65536)}};
}

Section<DeadlinesSection> deadlines_section() {
  using S = DeadlinesSection;
  return {"deadlines",
          false,
          "how long the parts of a run may take before it is given up",
          {key("host", &S::host, "one host: from the command to its node agent there").above(0),
           key("start", &S::start, "from the command to all actors ready").above(0),
           key("step", &S::step, "one step, or one evaluation").above(0)}};
}

}  // namespace sterna::actors
