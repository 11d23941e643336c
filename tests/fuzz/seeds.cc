// The messages that the fuzzer starts from: the plainest of every type, and full ones of the types
// that carry lists, texts, addresses or bulk bytes.
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "launcher/bench/actors/messages.h"
#include "launcher/owner/owner_words.h"
#include "launcher/probe/probe_messages.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/link/link_messages.h"
#include "runtime/transport/frame_batch.h"
#include "tests/fuzz/decode_input.h"
#include "tests/fuzz/message_list.h"

namespace sterna::fuzz {

namespace {

Bytes bytes(std::size_t size) {
  const auto buffer = make_buffer(size);
  for (std::size_t i = 0; i < size; ++i) buffer->data()[i] = static_cast<std::byte>(i);
  return share(buffer, size);
}

class Seeds {
 public:
  void add(const Mail& mail, Kind kind) {
    add(mail.type == nullptr ? 0 : mail.type->type_id, kind,
        [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
  }
  template <Message M>
  void add(const M& message, Kind kind = Kind::TELL) {
    add(type_id_of<M>(), kind, [&](auto& envelope, WireWriter& writer) {
      message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
    });
  }
  /// What has been added last, twice, as one batch.
  void add_batch() {
    FrameBatchWriter batch;
    for (int i = 0; i < 2; ++i) batch.add(std::as_bytes(std::span(last_)));
    const ByteView frame = batch.frame();
    inputs.push_back(
        input_of({std::string(reinterpret_cast<const char*>(frame.data()), frame.size())}, 0));
  }
  std::vector<std::string> inputs;

 private:
  template <class Fill>
  void add(std::uint64_t type_id, Kind kind, Fill&& fill) {
    Header header;
    header.target = {(1ULL << 32U) | 2};
    header.source = {(1ULL << 32U) | 3};
    header.correlation = 7;
    header.kind = kind;
    header.type_id = type_id;
    header.sequence = 9;
    EnvelopeEncoder encoder;
    std::vector<std::string> frames;
    for (const OutFrame& frame : encoder.encode(header, fill)) {
      frames.emplace_back(reinterpret_cast<const char*>(frame.view.data()), frame.view.size());
    }
    last_ = frames.front();
    // Every other one misaligned.
    inputs.push_back(input_of(frames, inputs.size() % 2 == 0 ? 0 : 4));
  }
  std::string last_;
};

Contact contact() {
  return {5, {"worker-0", 2}, "ipc:///tmp/s/w.control", "ipc:///tmp/s/w.data", "key", "hash"};
}

void add_runtime(Seeds& seeds) {
  Hello hello;
  hello.build_id = "build";
  hello.host = "here";
  seeds.add(hello);
  Welcome welcome;
  welcome.reason = "run the same build";
  seeds.add(welcome);
  Down down;
  down.notice = {{{1}, {2}}, "worker-0", 1, "killed by SIGKILL"};
  seeds.add(down);
  Bootstrap bootstrap;
  bootstrap.run_name = "lenet";
  bootstrap.identity = {"worker-0", 2};
  bootstrap.credentials = {"public", "secret", "token"};
  bootstrap.uplink = contact();
  bootstrap.admit = {contact(), contact()};
  bootstrap.network.directory = "/tmp/s";
  bootstrap.actor_type = "worker";
  bootstrap.args = bytes(100);
  seeds.add(bootstrap);
  bootstrap.args = bytes(5000);  // a frame of its own
  seeds.add(StartProcess{bootstrap}, Kind::ASK);
  seeds.add(
      StartActor{"worker-0", "worker", bytes(5000), "host", 2, std::chrono::seconds(1), {"A=b"}, 1},
      Kind::ASK);
  seeds.add(Find{"worker-0", std::chrono::seconds(1)}, Kind::ASK);
  seeds.add(Found{{{{1}, {2}}, 3}, 1}, Kind::REPLY);
  seeds.add(LinkReport{{1}, contact(), "silence", true});
  seeds.add(Ready{contact(), {{{1}, {2}}, 3}}, Kind::ASK);
  seeds.add(AdmitExtra{"worker-0", contact()}, Kind::ASK);
  ProcessDown dead;
  dead.identity = {"worker-0", 2};
  dead.cause = "killed by SIGKILL";
  dead.last_lines = {"one", "two", "three"};
  seeds.add(dead);
  ProcessStatus status;
  status.identity = {"worker-0", 2};
  status.state = "running";
  seeds.add(StatusReport{{status, status}});
  bootstrap.operators = {contact()};
  bootstrap.environment = {"A=b"};
  seeds.add(bootstrap);
  Overview overview;
  overview.name = "lenet";
  overview.members = {status, status};
  overview.report = bytes(100);
  seeds.add(overview, Kind::REPLY);
  seeds.add(EndRun{"enough"}, Kind::ASK);
  seeds.add(ReadFile{{3}, "worker-0.log", 7}, Kind::ASK);
  seeds.add(FilePiece{5000, bytes(5000)}, Kind::REPLY);
  AddNode add;
  add.host = "b";
  add.environment = {"A=b"};
  seeds.add(add, Kind::ASK);
  seeds.add(launcher::OwnerWord{"place", "b", bytes(100), 7});
}

void add_training(Seeds& seeds) {
  using namespace actors;
  Push push;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Packet packet;
    packet.chunk = i;
    packet.codec = i == 0 ? Codec::TERNARY : Codec::FP32;
    packet.payload = bytes(i == 1 ? 16 : 4096 + 128 * i);  // two frames of their own
    push.packets.push_back(packet);
  }
  seeds.add(push, Kind::ASK);
  seeds.add(PushReply{{Verdict::ACCEPTED, Verdict::DUPLICATE, Verdict::DROPPED}}, Kind::REPLY);
  seeds.add(Pull{3, {0, 1, 2}}, Kind::ASK);
  seeds.add(Offer{1, 1, 0, 7, {{0, 0.5F}, {3, 0.25F}}}, Kind::ASK);
  seeds.add(Compare{100, {{0, {}}, {1, {}}}}, Kind::ASK);
  seeds.add(Agreed{{0.5F, 0.25F}}, Kind::REPLY);
  Parameters parameters;
  parameters.chunks = {{0, Codec::FP32, bytes(4096)}, {1, Codec::FP32, bytes(64)}};
  seeds.add(parameters, Kind::REPLY);
  seeds.add(Batch{1, 0, bytes(4096), bytes(64)}, Kind::REPLY);
  seeds.add(Batch{1, 0, bytes(64), bytes(2), {3, 5}, {100, 7}}, Kind::REPLY);
  JobConfig job;
  job.net = "lenet";
  job.steps = 1;
  job.ranks = 2;
  ServerArgs server;
  server.job = job;
  server.workers = {{"worker-0", 0, 1}, {"worker-1", 1, 1}};
  server.evaluator = "evaluator";
  seeds.add(server);
  WorkerArgs worker;
  worker.job = job;
  worker.servers = {"server-0", "server-1"};
  worker.readers = {"reader"};
  seeds.add(worker);
  EvaluatorArgs evaluator;
  evaluator.job = job;
  evaluator.servers = {"server-0"};
  seeds.add(evaluator);
  seeds.add(Progress{.worker = "worker-0", .step = 3, .loss = 2.3, .traffic = {}});
  seeds.add(WorkerDone{
      .worker = "worker-0", .steps = 3, .traffic = {}, .tensors = {{.tensor = "logits"}}});
  seeds.add(JobFinished{"00ff", "weights.safetensors", 431080});
}

void add_bench(Seeds& seeds) {
  using namespace launcher;
  seeds.add(ProbePeer{"waits-b-1", 20, 16, 4096, std::chrono::seconds(1)}, Kind::ASK);
  seeds.add(
      ProbeLink{{"a-1", "b-1"}, 65536, 4096, std::chrono::seconds(1), std::chrono::seconds(2)},
      Kind::ASK);
  seeds.add(LinkProbed{std::chrono::milliseconds(1), 0.5}, Kind::REPLY);
  seeds.add(ProbeCodecs{bytes(64), {"none", "ternary"}}, Kind::ASK);
  seeds.add(CodecsProbed{{{"none", 4, 4, 1e-9, 2e-9}, {"ternary", 0.25, 0.375, 1e-9, 3e-9}}},
            Kind::REPLY);
  seeds.add(CountPorts{"127.0.0.1", 40000, 40099}, Kind::ASK);
  seeds.add(Echo{bytes(64)}, Kind::ASK);
  seeds.add(Drive{{{{{1}, {2}}}, {{{1}, {3}}}}, 4, std::chrono::seconds(1)}, Kind::ASK);
  seeds.add(DriveRaw{{"ipc:///tmp/a", "ipc:///tmp/b"}, {"k", "l"}, 4, std::chrono::seconds(1)},
            Kind::ASK);
  seeds.add(ServeRaw{"ipc:///tmp/a", true}, Kind::ASK);
}

}  // namespace

std::vector<std::string> seeds() {
  Seeds seeds;
  for (const Known& known : every_message()) seeds.add(*known.plain(), Kind::TELL);
  add_runtime(seeds);
  add_training(seeds);
  add_bench(seeds);
  seeds.add(FailureMail(Error{Errc::deadline, "too late"}), Kind::FAILURE);
  seeds.add(EmptyMail(), Kind::REPLY);
  seeds.add(EmptyMail(), Kind::CANCEL);
  seeds.add_batch();
  return seeds.inputs;
}

}  // namespace sterna::fuzz
