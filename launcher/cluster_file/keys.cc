#include "launcher/cluster_file/keys.h"

#include "actors/job/args.h"

namespace sterna::launcher {
namespace {

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
       key("placer", &S::placer, placer_help()).one_of(placer_names()),
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
       key("heartbeat", &S::heartbeat, "how often every actor says that it lives")
           .at_least(actors::kShortestDeadline),
       key("silence", &S::silence, "an actor that said nothing for so long is dead").above(0),
       key("link_patience", &S::link_patience,
           "how long a connection that was lost between two actors is dialled again before one of "
           "them is taken for dead; 0: not at all")
           .at_least(0),
       key("slow_link", &S::slow_link,
           "a link that carries less, e.g. \"10MB/s\", while there is more to send over it, is "
           "named, and "
           "that it is over; empty: none. Not with link_patience = \"0s\""),
       key("lost_host", &S::lost_host,
           "what becomes of the actors of a host that is lost: move starts them again on the hosts "
           "that are left, wait only where they were; quorum goes on without its workers, as long "
           "as "
           "there are scheme.quorum ranks, and moves the others")
           .one_of({"move", "wait", "quorum"}),
       key("lease", &S::lease,
           "a host that heard nothing of the coordinator for so long kills its actors; only then "
           "are they started elsewhere")
           .above(0),
       key("coordinator_restarts", &S::coordinator_restarts,
           "how often the coordinator is started again in any 10 minutes, should it be lost; then "
           "all is started again from the newest checkpoint, or the run ends")
           .at_least(0)
           .at_most(1000000),
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
           .defaults_to("sterna itself"),
       key("done_when", &S::done_when,
           "the actors whose ends end the run, which stops the others: names, or types for all of "
           "a "
           "type, e.g. [\"adder\"]; an actor's failure ends it anyway")
           .defaults_to("all actors")
           .is_identifier()}};
}

Section<LogSection> log_section() {
  using S = LogSection;
  return {
      "log",
      false,
      "how sterna run shows a run whose head is this machine",
      {key("style", &S::style,
           "sterna, or lines as the originals print them: schlag's tutorial, terngrad's trainer")
           .one_of({kOwnLog, kSchlagLog, kTerngradLog})}};
}

Section<MetricsSection> metrics_section() {
  using S = MetricsSection;
  return {"metrics",
          false,
          "who may read what a run is at this moment",
          {key("prometheus", &S::prometheus,
               "the address and port, on the machine that owns the run, where Prometheus and who "
               "reads OpenMetrics find its metrics at /metrics, e.g. \"127.0.0.1:9100\"")
               .defaults_to("none"),
           key("series", &S::series, "at most so many are in one answer; what is cut is counted")
               .at_least(1)
               .at_most(1'000'000)}};
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
       key("gpus", &S::gpus, "how many GPUs it has to give; none is looked for")
           .at_least(0)
           .at_most(1024),
       key("memory", &S::memory,
           "for actors that ask for some, e.g. \"64GB\"; empty: unknown, never too little"),
       key("labels", &S::labels, "what actors may ask for, e.g. [\"fast\", \"ssd\"]")
           .is_identifier(),
       key("data", &S::data, "the data set's folder on this host").defaults_to("data.dir"),
       key("work", &S::work, "its folder for programs and logs of runs"),
       key("env", &S::env,
           "environment of its processes, e.g. { NAME = \"value\" }; no place for "
           "secrets")
           .is_identifier(),
       key("cuda", &S::cuda,
           "folders with NVIDIA's cuBLASLt and cuDNN, which are looked at first; then where the "
           "loader looks, /usr/local/cuda/lib64, and where pip installs"),
       key("spare", &S::spare,
           "whether it is none of the run's until `sterna add` makes it one; actors may move there "
           "then")}};
}

Section<ActorSection> actor_section() {
  using S = ActorSection;
  return {
      "actor",
      true,
      "the actors: of training at least one of each role, exactly one evaluator; or all of a "
      "program's own types",
      {key("role", &S::role, "what it does in training")
           .one_of(role_names())
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
           "GPUs by index, as nvidia-smi counts them, used in turn: each sees one, or as many as "
           "gpus says")
           .defaults_to("free ones, if gpus are asked for")
           .at_least(0)
           .at_most(1023),
       key("backend", &S::backend,
           "of workers and evaluators, what they compute on: cuda is the GPUs that each is given, "
           "rank i on GPU i mod their number, or, where no host has gpus, the first that it sees")
           .one_of(actors::compute_backends())
           .defaults_to("\"cuda\" with gpus or devices, else \"cpu\""),
       key("ranks", &S::ranks, "virtual workers per worker (workers only)")
           .at_least(1)
           .at_most(4096),
       key("shards", &S::shards,
           "of input readers, as many as count says: each holds one part of the training "
           "examples, its host's data may be only that (sterna data split); 0: each holds all")
           .at_least(0)
           .at_most(4096),
       key("replicas", &S::replicas,
           "of parameter servers: 1 is one more of each, on another host where there is one, which "
           "gets all gradients, too, and makes the same steps: either may be lost, and comes "
           "again. Where ranks are not in step (another scheme than \"sync\", or a quorum), only "
           "with gradient.scaler = \"own\"")
           .at_least(0)
           .at_most(1),
       key("restart", &S::restart,
           "so often one that was lost (killed, silent) is started again beside the others; -1: "
           "as its role says. Not of servers without replicas that have what workers have not "
           "(gradient.down), nor of workers whose ranks keep something "
           "of their own (elastic schemes, slots of [local_optimizer]): "
           "for these see checkpoint.restarts. For workers to come again servers keep a second "
           "version "
           "of the parameters, where all ranks make each, and nodes what error feedback keeps")
           .defaults_to("5 for input readers, workers, evaluators and servers, else 0")
           .at_least(-1)
           .at_most(1000),
       key("within", &S::within, "the time over which `restart` counts").above(0),
       key("backoff", &S::backoff,
           "before the first restart within that time; before each that follows twice as long, up "
           "to 10s")
           .above(0)}};
}

Section<FaultSection> fault_section() {
  using S = FaultSection;
  return {"inject.fault",
          true,
          "faults on purpose, to see what a run does about them",
          {key("at_step", &S::at_step,
               "as soon as the launcher knows that all workers have done so many steps; once, "
               "whatever is done again")
               .at_least(1)
               .must_be_given(),
           key("actor", &S::actor, "whom it happens to, e.g. \"worker1\"")
               .is_identifier()
               .must_be_given(),
           key("kind", &S::kind,
               "kill: SIGKILL; stop: SIGSTOP; cut: all its connections are shut; delay: what comes "
               "to it comes later; drop: what comes to it is thrown away; device_fault: the GPU "
               "that it computes on fails in the middle of its next step")
               .one_of(fault_kinds())
               .must_be_given(),
           key("for", &S::lasts,
               "of a stop: then it goes on (SIGCONT), 0s: it does not; a delay and a drop must say "
               "how long they last")
               .at_least(0)
               .at_most(86400),
           key("by", &S::by, "of a delay: so much later; 0s: 200ms").at_least(0).at_most(60)}};
}

Section<ChaosSection> chaos_section() {
  using S = ChaosSection;
  return {"chaos",
          false,
          "faults at random",
          {key("allow", &S::allow, "whether `sterna chaos` may inject them into the run")}};
}

}  // namespace

ClusterKeys cluster_keys() {
  return {root_keys(),     cluster_section(),     program_section(),
          log_section(),   metrics_section(),     host_section(),
          actor_section(), actors::job_section(), actors::deadlines_section(),
          fault_section(), chaos_section()};
}

}  // namespace sterna::launcher
