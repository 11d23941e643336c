@0xd1c0a9e7f4b38265;
# The messages of a training job: between parameter servers, workers, input readers, the evaluator
# and the observer (the launcher), and the arguments the four are started with.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::actors::schema");

# ---- the job ----

enum Codec {
  fp32 @0;            # plain little-endian fp32
  ternary @1;         # a scaler and bit-planes of trits or of their sums (kernels/trits/TRITS.md)
  bf16 @2;            # the upper halves of fp32
  ternaryEntropy @3;  # as ternary, the planes entropy-coded (kernels/entropy/ENTROPY.md)
}

enum ScalerRule {
  own @0;       # each rank's own
  shared @1;    # the largest of all ranks', agreed at each step
  lastStep @2;  # the largest of all ranks' at the step before
}

enum Down {
  parameters @0;      # the next parameters
  parametersBf16 @1;  # rounded to bf16 for the workers; the servers keep fp32
  average @2;         # the exact average of the step's gradients; workers apply the optimizer too
  ternary @3;         # the average ternarized, with error feedback; all apply what was sent
}

enum DecayAt {
  worker @0;    # part of the gradient before it is ternarized, as in the originals
  server @1;    # added exactly, after averaging
}

struct JobConfig {
  net @0 :Text;
  steps @1 :UInt64;       # global steps: updates of the parameters
  batch @2 :UInt32;       # examples per rank and step
  seed @3 :UInt64;
  ranks @4 :UInt32;       # of the whole job
  threads @5 :UInt32;     # compute threads per rank
  isa @6 :Text;           # cap on the kernels' instruction set
  firstStep @7 :UInt64;   # and the version that the parameters start at
  optimizer @8 :Optimizer;
  gradient @9 :GradientCodec;
  evaluation @10 :Evaluation;
  data @11 :Data;
  deadlines @12 :Deadlines;
  hidden @13 :List(UInt32);  # of the mlp: its hidden layers' widths

  struct Optimizer {
    name @0 :Text;
    learningRate @1 :Float64;
    momentum @2 :Float64;
    weightDecay @3 :Float64;
    decayAt @4 :DecayAt;
    schedule @5 :Text;
    decayFactor @6 :Float64;  # exponential: the learning rate times this ...
    decaySteps @7 :UInt64;    # ... every so many steps
    beta1 @8 :Float64;        # adam
    beta2 @9 :Float64;        # adam
    epsilon @10 :Float64;     # adam
  }
  struct GradientCodec {
    codec @0 :Codec;
    clip @1 :Float64;     # in standard deviations; 0: the scaler is the largest magnitude
    minSize @2 :UInt64;   # smaller tensors stay fp32
    logits @3 :Bool;      # the logits' tensors are ternarized too
    scaler @4 :ScalerRule;
    buckets @5 :Bool;     # a scaler for each unit of 65,536 elements, not for each tensor
    down @6 :Down;
    checkEvery @7 :UInt64;  # versions; where workers keep parameters: how often all compare hashes
    tensors @8 :List(TensorCodec);
    errorFeedback @9 :Bool; # what a lossy codec leaves of a gradient is added to the next one
    clipNorm @10 :Float64;  # of a rank's whole gradient; 0: no limit
    floatingEpoch @11 :UInt64;  # every so manyth epoch gradients travel as fp32; 0: never
    epochExamples @12 :UInt64;  # in an epoch

    struct TensorCodec {
      tensor @0 :Text;
      codec @1 :Codec;      # of this tensor, whatever the other keys say
    }
  }
  struct Evaluation {
    every @0 :UInt64;     # steps; 0: only after the last
    examples @1 :UInt64;  # the fixed subset used until the end
    batch @2 :UInt32;
  }
  struct Data {
    name @0 :Text;
    dir @1 :Text;
    shards @2 :UInt32;    # each input reader holds one of so many parts; 0: each holds all
  }
  struct Deadlines {
    find @0 :Int64;       # nanoseconds: until another actor's name is known
    ask @1 :Int64;        # nanoseconds: until an answer that takes up to a step is there
  }
}

# ---- what the actors are started with ----

struct WorkerRanks {
  name @0 :Text;
  firstRank @1 :UInt32;
  ranks @2 :UInt32;
}

struct ServerArgs {
  job @0 :JobConfig;
  index @1 :UInt32;             # this server's shard
  servers @2 :UInt32;
  workers @3 :List(WorkerRanks);
  evaluator @4 :Text;           # empty: none
}

struct WorkerArgs {
  job @0 :JobConfig;
  firstRank @1 :UInt32;
  ranks @2 :UInt32;
  servers @3 :List(Text);       # in the order of their shards
  readers @4 :List(Text);       # where there are shards: in their order
  observer @5 :Text;
}

struct ReaderArgs {
  job @0 :JobConfig;
  workers @1 :List(WorkerRanks);
  shard @2 :UInt32;             # the part it holds, where there are shards
}

struct EvaluatorArgs {
  job @0 :JobConfig;
  servers @1 :List(Text);
  observer @2 :Text;
  weights @3 :Text;             # path of the final weights; empty: none are written
}

# ---- gradients up, parameters down ----

enum PayloadKind {
  gradient @0;
  difference @1;
  parameters @2;
}

struct Packet {
  chunk @0 :UInt32;
  codec @1 :Codec;
  scaler @2 :Float32;   # of the whole tensor; 1 for fp32
  count @3 :UInt64;     # elements
  payload @4 :Data;
}

struct Push {
  rank @0 :UInt32;
  incarnation @1 :UInt64;
  epoch @2 :UInt32;
  step @3 :UInt64;
  baseVersion @4 :UInt64;   # of the parameters the gradient was computed from
  examples @5 :UInt32;
  kind @6 :PayloadKind;
  packets @7 :List(Packet);
}

enum Verdict {
  accepted @0;
  duplicate @1;   # this rank's gradient of this step and chunk is already counted
  dropped @2;     # the step is over without it
}

struct PushReply {
  verdicts @0 :List(Verdict);   # in the order of the packets
}

struct Offer {
  rank @0 :UInt32;
  incarnation @1 :UInt64;
  epoch @2 :UInt32;
  step @3 :UInt64;
  scalers @4 :List(OwnScaler);

  struct OwnScaler {
    index @0 :UInt32;     # its place among the table's scalers
    value @1 :Float32;
  }
}

struct Agreed {
  values @0 :List(Float32);   # the largest that any rank offered, in the order of the question
}

struct Pull {
  version @0 :UInt64;
  chunks @1 :List(UInt32);
  kind @2 :PayloadKind;     # gradient: what led to that version
  codec @3 :Codec;          # of parameters: fp32 or bf16
}

struct ParameterChunk {
  chunk @0 :UInt32;
  codec @1 :Codec;
  payload @2 :Data;
  scaler @3 :Float32;   # of trits or their sums
}

struct Parameters {
  version @0 :UInt64;
  kind @1 :PayloadKind;
  chunks @2 :List(ParameterChunk);
  ranks @3 :UInt32;               # gradients: of how many ranks the trits are sums
  constants @4 :List(Float32);    # gradients: the optimizer's in this step (kernels/optimizer/optimizer.h)
}

struct Compare {
  version @0 :UInt64;
  chunks @1 :List(Fingerprint);

  struct Fingerprint {
    chunk @0 :UInt32;
    hash @1 :Data;      # BLAKE2b, 16 bytes, of the parameters
  }
}

struct Release {
  version @0 :UInt64;   # snapshots up to this one are no longer needed
}

# ---- batches ----

struct NextBatch {
  step @0 :UInt64;
  rank @1 :UInt32;
}

struct Batch {
  step @0 :UInt64;
  rank @1 :UInt32;
  images @2 :Data;   # fp32, one image after the other, CHW
  labels @3 :Data;   # 16 bits each, the lower byte first
  # Of a reader with a shard: the rows of the batch that lie in it, ascending, and what it is a part
  # of. Else empty and 0: it is the whole batch.
  rows @4 :List(UInt32);
  examples @5 :UInt64;   # of the whole training set
  dataset @6 :UInt64;    # the first 8 bytes of its SHA-256
}

# ---- what the observer is told ----

struct Traffic {
  bytesUp @0 :UInt64;                # whole messages as the links count them, or payloads without links
  bytesDown @1 :UInt64;
  bytesBeforeBackwardEnded @2 :UInt64;  # of the gradient payloads
  gradientBytes @3 :UInt64;             # gradient payloads
  gradientElements @4 :UInt64;
  ternarizedBytes @5 :UInt64;           # planes and scalers
  ternarizedElements @6 :UInt64;
  parameterBytes @7 :UInt64;            # parameter payloads
  parameterElements @8 :UInt64;
  nonzeroElements @9 :UInt64;           # of the ternarized
  measuredElements @10 :UInt64;         # ternarized under the last step's scaler, of which ...
  saturatedElements @11 :UInt64;        # ... so many are larger than it
}

struct TensorTotals {
  tensor @0 :Text;
  codec @1 :Codec;
  steps @2 :UInt64;
  elements @3 :UInt64;
  bytesUp @4 :UInt64;
  bytesDown @5 :UInt64;
  nonzero @6 :UInt64;
  measured @7 :UInt64;
  saturated @8 :UInt64;
  encodeSeconds @9 :Float64;
  decodeSeconds @10 :Float64;
  exchangeSeconds @11 :Float64;
  pushes @12 :UInt64;
  ternarized @13 :UInt64;
}

struct Progress {
  worker @0 :Text;
  step @1 :UInt64;      # steps done
  loss @2 :Float64;     # mean over the worker's ranks
  examples @3 :UInt64;  # so far
  seconds @4 :Float64;  # since this worker's first step began
  traffic @5 :Traffic;
}

struct Evaluated {
  step @0 :UInt64;
  precisionAt1 @1 :Float64;
  loss @2 :Float64;
  examples @3 :UInt64;
}

struct WorkerDone {
  worker @0 :Text;
  steps @1 :UInt64;
  loss @2 :Float64;
  seconds @3 :Float64;
  medianStepSeconds @4 :Float64;
  traffic @5 :Traffic;
  tensors @6 :List(TensorTotals);
}

struct JobFinished {
  parametersSha256 @0 :Text;
  weights @1 :Text;     # where they were written; empty if nowhere
  parameters @2 :UInt64;
}
