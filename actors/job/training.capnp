@0xd1c0a9e7f4b38265;
# The messages of a training job: between parameter servers, workers, input readers, the evaluator
# and the observer (the launcher), and the arguments the four are started with.

using Cxx = import "/capnp/c++.capnp";
using import "/actors/codecs/codec.capnp".Codec;
$Cxx.namespace("sterna::actors::schema");

# ---- the job ----

struct JobConfig {
  sections @0 :Text;      # the canonical text of the sections of actors/job/sections.h
  ranks @1 :UInt32;       # of the whole job
  shards @2 :UInt32;      # each input reader holds one of so many parts; 0: each holds all
  examples @3 :UInt64;    # of the training set, where epochs are counted
  firstStep @4 :UInt64;   # and the version that the parameters start at
  rows @5 :UInt32;        # of a picture as the net sees it
  columns @6 :UInt32;
  channels @7 :UInt32;
  classes @8 :UInt32;
  firstPosition @9 :UInt64;   # examples seen before firstStep
  resumes @10 :Bool;          # the state at firstStep is a checkpoint's
  restartsWorkers @11 :Bool;
  averagedRanks @12 :UInt32;   # so many, of one worker, push as the first of them
  restartsServers @13 :Bool;
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
  keeper @5 :Text;              # of checkpoints; empty: none
  observer @6 :Text;            # empty: nobody is told
  partner @7 :Text;             # who holds the same shard; empty: nobody
  replica @8 :Bool;             # of the two the one that keeps nothing for checkpoints
}

struct WorkerArgs {
  job @0 :JobConfig;
  firstRank @1 :UInt32;
  ranks @2 :UInt32;
  servers @3 :List(Text);       # in the order of their shards
  readers @4 :List(Text);       # where there are shards: in their order
  observer @5 :Text;
  keeper @6 :Text;              # of checkpoints; empty: none
  replicas @7 :List(Text);      # of the servers, in their order, or none
  backend @8 :Text;             # what it computes on: "cpu" or "cuda"
  evaluator @9 :Text;           # who takes versions of a worker without servers
  devices @10 :List(UInt32);    # of the GPUs that it sees; none: the first
}

struct ReaderArgs {
  job @0 :JobConfig;
  workers @1 :List(WorkerRanks);
  shard @2 :UInt32;             # the part it holds, where there are shards
  observer @3 :Text;            # empty: nobody is told
}

struct EvaluatorArgs {
  job @0 :JobConfig;
  servers @1 :List(Text);
  observer @2 :Text;
  weights @3 :Text;             # path of the final weights; empty: none are written
  replicas @4 :List(Text);      # as a worker's
  backend @5 :Text;             # as a worker's; of GPUs the first
}

# ---- gradients up, parameters down ----

enum PayloadKind {
  gradient @0;
  difference @1;
  parameters @2;
  movingAverage @3;   # of parameters
  state @4;           # parameters, and behind them each of the optimizer's slots, as fp32
}

struct Packet {
  chunk @0 :UInt32;
  codec @1 :Codec;
  scaler @2 :Float32;   # of the whole tensor; 1 for fp32
  count @3 :UInt64;     # elements
  payload @4 :Data;
  baseVersion @5 :UInt64;   # of the chunk's parameters that it was computed from
}

struct Push {
  rank @0 :UInt32;
  incarnation @1 :UInt64;
  epoch @2 :UInt32;
  step @3 :UInt64;          # the rank's own count of pushes
  examples @4 :UInt32;
  kind @5 :PayloadKind;
  packets @6 :List(Packet);
}

enum Verdict {
  accepted @0;
  duplicate @1;   # this rank's packet of this push and chunk is already counted
  dropped @2;     # the version that it was for has been made without it, or the job is over
}

struct PushReply {
  verdicts @0 :List(Verdict);   # in the order of the packets
  staleness @1 :List(UInt32);   # likewise, where each that counts makes a version: of those
                                # that were made since the one that it was computed from
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
  kind @2 :PayloadKind;     # gradient: what led to that version; movingAverage, state: with that one
  codec @3 :Codec;          # of parameters: fp32 or bf16
  newest @4 :Bool;          # the newest, at least `version`, which has ...
  rank @5 :UInt32;          # ... of this rank ...
  pushes @6 :UInt64;        # ... all pushes before this one, but for what was dropped
}

struct ParameterChunk {
  chunk @0 :UInt32;
  codec @1 :Codec;
  payload @2 :Data;
  scaler @3 :Float32;   # of trits or their sums
  version @4 :UInt64;   # of the newest; else 0, the answer's is meant
}

struct Parameters {
  version @0 :UInt64;
  kind @1 :PayloadKind;
  chunks @2 :List(ParameterChunk);
  ranks @3 :UInt32;               # gradients: of how many ranks the trits are sums
  constants @4 :List(Float32);    # gradients: the optimizer's in this step (kernels/optimizer/optimizer.h)
}

struct Rejoin {
  rank @0 :UInt32;
  incarnation @1 :UInt64;
  patient @2 :Bool;     # the answer may wait until it is known
}

# Answered as an Offer is, with all of the server's scalers in the order of the table.
struct RecallScalers {
  rank @0 :UInt32;
  incarnation @1 :UInt64;
  step @2 :UInt64;
}

struct Rejoined {
  step @0 :UInt64;      # the earliest push of which a packet of the rank is missing
  version @1 :UInt64;   # the newest of the server's chunks
}

# ---- a server in the place of a lost one, beside its partner ----

struct Enlist {}

struct Enlisted {
  step @0 :UInt64;      # from which on it gets all pushes and offers of the worker
}

struct CopyChunk {
  chunk @0 :UInt32;
  from @1 :UInt64;      # version, or a later one; where ranks do not go in step pushes, as Forward counts
}

struct ChunkCopy {
  version @0 :UInt64;
  values @1 :Data;      # parameters, behind them the optimizer's slots and the moving average; fp32
  residual @2 :Data;    # of averages that were ternarized; empty: none is kept
  snapshots @3 :List(Snapshot);

  struct Snapshot {     # what the evaluator does not take is empty
    version @0 :UInt64;
    parameters @1 :Data;
    average @2 :Data;
  }

  # Where ranks do not go in step:
  judged @4 :List(UInt64);    # by rank: all its pushes before this one
  taken @5 :List(UInt64);     # by rank two: 1 + its last pushes that counted
  waiting @6 :List(Waiting);  # that no version is made of yet, as they came

  struct Waiting {
    rank @0 :UInt32;
    packet @1 :Packet;        # opened
  }
}

struct CopyBoard {
  from @0 :UInt64;      # step, or a later one
}

struct BoardCopy {
  scalers @0 :List(Scaler);   # that are agreed at the server, in the order of the table
  version @1 :UInt64;         # as Handover has them
  skipped @2 :UInt64;
  named @3 :List(UInt64);     # ascending

  struct Scaler {
    step @0 :UInt64;          # that is being agreed
    known @1 :UInt32;         # how many of these two there are
    last @2 :Float32;         # of the step before
    beforeLast @3 :Float32;
  }

  order @4 :UInt64;           # from which on it is told of pushes (Forward)
}

# ---- a server in the place of a lost one, where workers have all that it had ----

struct ShowHeld {}

struct Held {
  chunks @0 :List(Chunk);   # of the server's shard, that the worker has; ascending

  struct Chunk {
    chunk @0 :UInt32;
    version @1 :UInt64;
  }
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
  version @0 :UInt64;   # its snapshot is no longer needed, nor is it to be kept
}

struct Concluded {
  version @0 :UInt64;   # all up to it have been evaluated
  skipped @1 :UInt64;   # of those that were due, up to it
}

struct TakeOver {}

struct Handover {
  version @0 :UInt64;
  skipped @1 :UInt64;
  named @2 :List(UInt64);  # ascending
}

struct Reserve {
  version @0 :UInt64;   # is to be kept for the evaluator
}

struct Reserved {
  reserved @0 :Bool;    # false: it is too late for that version
  first @1 :UInt64;     # the first version that could be reserved
}

# ---- batches ----

struct NextBatch {
  step @0 :UInt64;
  rank @1 :UInt32;
  firstRow @2 :UInt32;   # of the batch
  rows @3 :UInt32;       # neighbours; 0: all that follow
}

struct Batch {
  step @0 :UInt64;
  rank @1 :UInt32;
  pixels @2 :Data;   # one picture after the other, a pixel's channels beside each other
  labels @3 :Data;   # 16 bits each, the lower byte first
  # Of a reader with a shard: the rows of the batch that lie in it, ascending, and what it is a part
  # of. Else empty and 0: it is the whole batch.
  rows @4 :List(UInt32);
  examples @5 :UInt64;   # of the whole training set
  dataset @6 :UInt64;    # the first 8 bytes of its SHA-256
  # What the pixels stand for: of each picture a center for each channel, then a scale for each, fp32.
  # Of channel c a byte stands for (byte / 255 - center[c]) * scale[c].
  levels @7 :Data;
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
  latePackets @12 :UInt64;              # that no version was made with
  lonePackets @13 :UInt64;              # that made a version each
  staleness @14 :UInt64;                # of all of these
  mostStale @15 :UInt64;                # of any of them
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

struct RankLoss {
  step @0 :UInt64;       # whose end is version step + 1; of ranks that step by themselves, the
                         # version that they computed from
  rank @1 :UInt32;
  loss @2 :Float64;      # weight decay included
  decayLoss @3 :Float64; # of that, weight decay's
}

struct Progress {
  worker @0 :Text;
  step @1 :UInt64;      # steps done
  loss @2 :Float64;     # mean over the worker's ranks
  examples @3 :UInt64;  # so far
  seconds @4 :Float64;  # since this worker's first step began
  traffic @5 :Traffic;
  dataSeconds @6 :Float64;  # of `seconds`, for which a rank had parameters and no batch; their mean
  decayLoss @7 :Float64;    # of `loss`
  losses @8 :List(RankLoss);  # of every step since the last message
  lostLosses @9 :UInt64;      # so far: more than a message holds
}

struct ReaderProgress {
  reader @0 :Text;
  pictures @1 :UInt64;      # prepared so far
  busySeconds @2 :Float64;  # in which it prepared some
  threads @3 :UInt32;       # in which it does
  leftOut @4 :UInt64;       # examples so far, as they are damaged
}

struct Evaluated {
  step @0 :UInt64;
  precisionAt1 @1 :Float64;
  loss @2 :Float64;
  examples @3 :UInt64;
  recallAt5 @4 :Float64;
  classes @5 :UInt32;
  subset @6 :Text;           # of evaluator.subsets
  of @7 :PayloadKind;        # parameters or movingAverage
  skipped @8 :UInt64;        # versions so far that were due and that the evaluator had no time for
  confusion @9 :List(Cell);  # that are not 0; none of a net with very many classes
  leftOut @10 :UInt64;       # examples that were to be evaluated too, and are damaged

  struct Cell {
    label @0 :UInt16;
    answer @1 :UInt16;       # a class; the number of classes: none
    count @2 :UInt32;
  }
}

enum HistogramOf {
  weights @0;       # that a step was computed from
  gradients @1;     # of it, weight decay included
  sent @2;          # what the servers make of what was sent of those
  activations @3;   # behind a layer, up to the next one with parameters
}

struct TensorHistogram {
  tensor @0 :Text;            # of activations: the layer
  of @1 :HistogramOf;
  elements @2 :UInt64;        # that are finite, and of those ...
  nonFinite @3 :UInt64;
  least @4 :Float64;
  most @5 :Float64;
  sum @6 :Float64;
  sumOfSquares @7 :Float64;
  buckets @8 :List(Int32);    # ... the buckets that have some, ascending (kernels/numbers/histogram.h) ...
  counts @9 :List(UInt64);    # ... and how many each has
}

struct Watched {
  worker @0 :Text;
  step @1 :UInt64;            # rank 0's own, which weights and gradients are of
  histograms @2 :List(TensorHistogram);
  lost @3 :UInt64;            # steps so far that found the observer still busy
  pictures @4 :List(WatchedPicture);
}

struct WatchedPicture {
  rows @0 :UInt32;
  columns @1 :UInt32;
  channels @2 :UInt32;
  pixels @3 :Data;            # as the net got them, row-major, a pixel's channels beside each other
  label @4 :UInt16;
  prediction @5 :UInt16;      # before the step
}

struct ServerWaits {
  server @0 :Text;
  waits @1 :Bool;   # updates wait for the evaluator
}

struct ActorWhole {
  actor @0 :Text;
  incarnation @1 :UInt64;
}

struct ResidualsLost {
  worker @0 :Text;
  incarnation @1 :UInt64;
  ranks @2 :UInt32;
  step @3 :UInt64;
}

struct WorkerDone {
  worker @0 :Text;
  steps @1 :UInt64;
  loss @2 :Float64;
  seconds @3 :Float64;
  medianStepSeconds @4 :Float64;
  traffic @5 :Traffic;
  tensors @6 :List(TensorTotals);
  decayLoss @7 :Float64;
  device @8 :Text;        # what computed; empty: the CPU
  plans @9 :List(Text);   # of the libraries there: "cuDNN engine 5 (3)"
}

struct JobFinished {
  parametersSha256 @0 :Text;
  weights @1 :Text;     # where they were written; empty if nowhere
  parameters @2 :UInt64;
}

# ---- checkpoints ----

struct KeepVersion {
  version @0 :UInt64;
}

struct KeepAnswer {
  kept @0 :Bool;        # false: that version has begun or is past
  version @1 :UInt64;   # where the asked one is
}

struct PartWritten {
  version @0 :UInt64;
  file @1 :Text;     # within the checkpoint's folder
  bytes @2 :UInt64;
  hash @3 :Data;     # BLAKE2b, 16 bytes, of the file
  skipped @4 :Bool;  # the part before was still being written
  error @5 :Text;    # why it could not be written; empty: it is
}

struct ReadState {
  array @0 :Text;    # "momentum.0/conv1/weights"
  first @1 :UInt64;
  count @2 :UInt64;
}

struct StateValues {
  values @0 :Data;   # fp32
}

struct KeepCopy {
  manifest @0 :Text;  # JSON
  keep @1 :UInt32;    # so many stay, the newest
}

struct CopyKept {
  folder @0 :Text;
}

struct ReadPart {
  version @0 :UInt64;
  file @1 :Text;      # as the manifest calls it
  offset @2 :UInt64;
}

struct PartPiece {
  bytes @0 :Data;
}

# ---- two servers of a shard whose ranks do not go in step ----

# From the one that decides their order. Answered as a Push is; without verdicts where it is known.
struct Forward {
  order @0 :UInt64;   # its number among all pushes to the shard
  push @1 :Push;
}
