#include "launcher/cluster_keys.h"

#include <cmath>
#include <utility>

namespace sterna::launcher {
namespace {

template <class S, class T>
Key<S> key(std::string_view name, T S::*field, std::string_view help) {
  Key<S> result;
  result.name = name;
  result.field = field;
  result.help = help;
  return result;
}

Section<RootSection> root_keys() {
  return {"",
          false,
          "",
          {key("format", &RootSection::format, "version of this file's format")
               .at_least(1)
               .at_most(1)
               .must_be_given()}};
}

Section<ClusterSection> cluster_section() {
  using S = ClusterSection;
  return {
      "cluster",
      false,
      "the processes' life and how they reach each other",
      {key("name", &S::name, "what the run directory is called after")
           .defaults_to("the file's name")
           .is_identifier(),
       key("head", &S::head, "the host where the coordinator runs").defaults_to("the first host"),
       key("security", &S::security,
           "encryption of tcp connections; ipc has its own tokens and needs none")
           .one_of({"curve", "none"}),
       key("transport", &S::transport,
           "between processes of one host; tcp is there to try the network path here")
           .one_of({"ipc", "tcp"}),
       key("ports", &S::ports, "the tcp ports that processes may bind, e.g. \"40000-40100\""),
       key("heartbeat", &S::heartbeat, "how often every actor says that it lives").above(0),
       key("silence", &S::silence, "an actor that said nothing for so long is dead").above(0),
       key("grace", &S::grace, "how long a process may take to stop before it is killed")
           .at_least(0)}};
}

Section<HostSection> host_section() {
  using S = HostSection;
  return {
      "host",
      true,
      "the machines; without any: this one, as \"localhost\"",
      {key("name", &S::name, "how the other tables call it").is_identifier(),
       key("address", &S::address, "where others reach it; today an address of this machine"),
       key("bind", &S::bind, "the address that its processes bind").defaults_to("the address")}};
}

Section<ActorSection> actor_section() {
  using S = ActorSection;
  return {"actor",
          true,
          "the actors: at least one of each role, exactly one evaluator",
          {key("role", &S::role, "what it does")
               .one_of({"parameter_server", "worker", "input_reader", "evaluator"})
               .must_be_given(),
           key("count", &S::count, "how many of them").at_least(1).at_most(4096),
           key("name", &S::name, "its name; with a count above 1 a number is appended")
               .defaults_to("server0, worker0, reader0, ...")
               .is_identifier(),
           key("hosts", &S::hosts, "the hosts' names, used in turn").defaults_to("all hosts"),
           key("ranks", &S::ranks, "virtual workers per worker (workers only)")
               .at_least(1)
               .at_most(4096)}};
}

Section<JobSection> job_section() {
  using S = JobSection;
  return {"job",
          false,
          "what is trained",
          {key("net", &S::net, "the net").one_of({"lenet"}).must_be_given(),
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
               .one_of({"best", "avx512", "scalar"})}};
}

Section<DataSection> data_section() {
  using S = DataSection;
  return {"data",
          false,
          "where the examples come from",
          {key("name", &S::name, "the data set; any: the first that is found")
               .one_of({"any", "mnist", "digits"}),
           key("dir", &S::dir, "its folder").defaults_to("$STERNA_DATA, then ~/.cache/sterna")}};
}

Section<OptimizerSection> optimizer_section() {
  using S = OptimizerSection;
  return {"optimizer",
          false,
          "how the averaged gradient changes the parameters",
          {key("name", &S::name, "the rule").one_of({"gd", "momentum"}),
           key("learning_rate", &S::learning_rate, "at step 0").above(0),
           key("momentum", &S::momentum, "for momentum").at_least(0).below(1),
           key("weight_decay", &S::weight_decay, "of weights, never of biases").at_least(0),
           key("schedule", &S::schedule,
               "of the learning rate; polynomial: (1 - step/steps)^0.5, down to 0")
               .one_of({"fixed", "exponential", "polynomial"}),
           key("decay_at", &S::decay_at,
               "weight decay before ternarizing (worker) or after averaging (server)")
               .one_of({"worker", "server"}),
           key("decay_factor", &S::decay_factor, "exponential: the factor of each drop")
               .above(0)
               .at_most(1),
           key("epochs_per_decay", &S::epochs_per_decay, "exponential: epochs between drops")
               .above(0)}};
}

Section<GradientSection> gradient_section() {
  using S = GradientSection;
  return {"gradient",
          false,
          "what travels from workers to servers",
          {key("codec", &S::codec, "ternary: 2 bits per element; none: fp32")
               .one_of({"ternary", "none"}),
           key("clip", &S::clip,
               "clip at so many standard deviations; 0: never, the scaler is the largest magnitude")
               .at_least(0),
           key("min_size", &S::min_size, "tensors of fewer elements stay fp32").at_least(1),
           key("logits", &S::logits, "whether the last layer is ternarized too")}};
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
          {key("start", &S::start, "from the command to all actors ready").above(0),
           key("step", &S::step, "one step, or one evaluation").above(0)}};
}

}  // namespace

ClusterKeys cluster_keys() {
  return {root_keys(),          cluster_section(),  host_section(),      actor_section(),
          job_section(),        data_section(),     optimizer_section(), gradient_section(),
          evaluation_section(), deadlines_section()};
}

}  // namespace sterna::launcher
