#include "launcher/cluster_file/keys.h"

#include <cmath>
#include <utility>

#include "actors/codecs/codec.h"
#include "nets/net.h"

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
       key("head", &S::head, "the host where the coordinator runs")
           .defaults_to("the first host without ssh; this machine if there is none"),
       key("placer", &S::placer,
           "who starts the node agents: ssh (a host without ssh is this machine), local (all hosts "
           "are "
           "emulated here), slurm (the hosts are its allocation's), join (whoever runs sterna join "
           "there)")
           .one_of({"ssh", "local", "slurm", "join"}),
       key("security", &S::security,
           "encryption of tcp connections; ipc has its own tokens and needs none")
           .one_of({"curve", "none"}),
       key("transport", &S::transport,
           "what processes talk over: mixed is ipc within a host and tcp between hosts; ipc alone "
           "is "
           "for hosts that all are this machine, and elsewhere means mixed")
           .defaults_to("\"mixed\" if there are other machines, else \"ipc\"")
           .one_of({"ipc", "tcp", "mixed"}),
       key("ports", &S::ports,
           "the tcp ports that processes may bind, two for each, e.g. \"40000-40100\""),
       key("heartbeat", &S::heartbeat, "how often every actor says that it lives").above(0),
       key("silence", &S::silence, "an actor that said nothing for so long is dead").above(0),
       key("lease", &S::lease,
           "a host that heard nothing of the coordinator for so long stops its actors")
           .above(0),
       key("grace", &S::grace, "how long a process may take to stop before it is killed")
           .at_least(0),
       key("nodes", &S::nodes, "slurm: how many nodes `up` asks for").at_least(1).at_most(65536),
       key("time", &S::time, "slurm: how long they are asked for; 0s: the partition's limit")
           .at_least(0),
       key("partition", &S::partition, "slurm: the partition; empty: Slurm's default")}};
}

Section<ProgramSection> program_section() {
  using S = ProgramSection;
  return {
      "program",
      false,
      "what runs on the hosts",
      {key("path", &S::path, "a program whose main is sterna::main, for actors of its own types")
           .defaults_to("sterna itself")}};
}

Section<HostSection> host_section() {
  using S = HostSection;
  return {
      "host",
      true,
      "the machines; without any: this one, as \"localhost\"",
      {key("name", &S::name, "how the other tables call it").is_identifier(),
       key("address", &S::address, "where the other hosts reach it")
           .defaults_to("the host that ssh names, else 127.0.0.1"),
       key("bind", &S::bind, "the address that its processes bind, never all of them")
           .defaults_to("the address"),
       key("ssh", &S::ssh,
           "what ssh connects to, e.g. \"user@host\" or a name of ~/.ssh/config; empty: this "
           "machine"),
       key("cpus", &S::cpus, "its cores, for actors that ask for some; 0: unknown, never too few")
           .at_least(0)
           .at_most(65536),
       key("gpus", &S::gpus, "how many GPUs it has").at_least(0).at_most(1024),
       key("memory", &S::memory,
           "for actors that ask for some, e.g. \"64GB\"; empty: unknown, never too little"),
       key("labels", &S::labels, "what actors may ask for, e.g. [\"fast\", \"ssd\"]")
           .is_identifier(),
       key("data", &S::data, "the data set's folder on this host").defaults_to("data.dir"),
       key("work", &S::work, "its folder for programs and logs of runs"),
       key("env", &S::env,
           "environment of its processes, e.g. { NAME = \"value\" }; no place for "
           "secrets")
           .is_identifier()}};
}

Section<ActorSection> actor_section() {
  using S = ActorSection;
  return {
      "actor",
      true,
      "the actors: of training at least one of each role, exactly one evaluator; or all of a "
      "program's own types",
      {key("role", &S::role, "what it does in training")
           .one_of({"parameter_server", "worker", "input_reader", "evaluator"})
           .defaults_to("none; role or type must be given"),
       key("type", &S::type, "instead of a role: an actor type of the program")
           .defaults_to("none")
           .is_identifier(),
       key("count", &S::count, "how many of them").at_least(1).at_most(4096),
       key("name", &S::name, "its name; with a count above 1 a number is appended")
           .defaults_to("server0, worker0, reader0, ...")
           .is_identifier(),
       key("args", &S::args, "what an actor with a type is started with, e.g. { limit = 10 }"),
       key("hosts", &S::hosts, "the hosts' names, used in turn")
           .defaults_to("all hosts, or one with the resources asked for"),
       key("cpus", &S::cpus, "cores that each needs on its host").at_least(0).at_most(65536),
       key("gpus", &S::gpus, "GPUs that each needs for itself").at_least(0).at_most(1024),
       key("memory", &S::memory,
           "what each may take, e.g. \"4GB\": its process is ended at more; empty: no limit"),
       key("labels", &S::labels, "its host must have all of them").is_identifier(),
       key("policy", &S::policy,
           "with cpus, gpus, memory or labels: the first host that fits (pack), or the one with "
           "most left (spread)")
           .one_of({"pack", "spread"}),
       key("devices", &S::devices,
           "GPUs by index, used in turn: each sees one, or as many as gpus says")
           .defaults_to("free ones, if gpus are asked for")
           .at_least(0)
           .at_most(1023),
       key("ranks", &S::ranks, "virtual workers per worker (workers only)")
           .at_least(1)
           .at_most(4096),
       key("shards", &S::shards,
           "of input readers, as many as count says: each holds one part of the training "
           "examples, its host's data may be only that (sterna data split); 0: each holds all")
           .at_least(0)
           .at_most(4096)}};
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
               .at_most(65536),
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
               .one_of({"any", "mnist", "digits"}),
           key("dir", &S::dir, "its folder").defaults_to("$STERNA_DATA, then ~/.cache/sterna")}};
}

Section<OptimizerSection> optimizer_section() {
  using S = OptimizerSection;
  return {
      "optimizer",
      false,
      "how the averaged gradient changes the parameters",
      {key("name", &S::name, "the rule").one_of({"gd", "momentum", "adam"}),
       key("learning_rate", &S::learning_rate, "at step 0").above(0),
       key("momentum", &S::momentum, "for momentum").at_least(0).below(1),
       key("beta1", &S::beta1, "for adam: how much of the mean gradient stays")
           .at_least(0)
           .below(1),
       key("beta2", &S::beta2, "for adam: how much of the mean square stays").at_least(0).below(1),
       key("epsilon", &S::epsilon, "for adam: added to the root of the mean square")
           .at_least(1e-30),
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

std::vector<std::string_view> codecs_and_auto() {
  std::vector<std::string_view> names = actors::codec_names();
  names.push_back(kAutoCodec);
  return names;
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
       key("scaler", &S::scaler,
           "own: each rank's; shared: the largest of all ranks'; last_step: the largest of all "
           "ranks' a step before, for which nobody waits")
           .one_of({"own", "shared", "last_step"}),
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
       key("down", &S::down,
           "what workers get: parameters; average: the gradients' exact average, which they apply "
           "themselves (needs a shared scaler); ternary: that average ternarized again")
           .one_of({"parameters", "parameters_bf16", "average", "ternary"}),
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

}  // namespace

ClusterKeys cluster_keys() {
  return {root_keys(),        cluster_section(),    program_section(),  host_section(),
          actor_section(),    job_section(),        data_section(),     optimizer_section(),
          gradient_section(), evaluation_section(), deadlines_section()};
}

}  // namespace sterna::launcher
