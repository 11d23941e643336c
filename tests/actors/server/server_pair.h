// A shard's two servers in simulated processes of their own, asked by a test that is everybody
// else.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/server/parameter_server.h"
#include "nets/describe_net.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::actors {

class ServerPair : public test::SimFixture {
 protected:
  static constexpr Duration kPatience = std::chrono::seconds(100);

  ServerPair() {
    job.net = "mlp";
    job.hidden = {4};
    job.steps = 20;
    job.batch = 4;
    job.ranks = 2;
    job.optimizer.name = "gd";
    job.optimizer.learning_rate = 1;
    job.evaluation.every = 0;
    job.gradient.codec = "none";
    job.cpu_isa = "scalar";
  }

  /// In that process, which is called as the server is.
  ActorRef<ParameterServerInterface> spawn(test::SimProcess& process) {
    const std::string& name = process.contact.identity.name;
    const bool replica = name != "server0";
    ServerArgs args{.job = job,
                    .workers = {{"worker0", 0, 1}, {"worker1", 1, 1}},
                    .evaluator = "",
                    .keeper = "",
                    .partner = replica ? "server0" : replica_of("server0"),
                    .replica = replica};
    const auto server = process.process->spawn<ParameterServer>(
        args, [names = names](Process& asker, std::string wanted, Duration) {
          return find(asker, names, std::move(wanted));
        });
    (*names)[name] = server;
    return server;
  }
  /// As its node would say everywhere.
  void kill_for_good(const test::SimProcess& process) {
    const Contact contact = process.contact;
    kill(process);
    for (const auto& other : processes) {
      if (other == nullptr) continue;
      other->process->process_down(
          {{{contact.process}, {}}, contact.identity.name, contact.identity.incarnation, "killed"});
    }
  }

  ParameterTable table() const {
    return {nets::describe_net(net_options(job))->parameters, job, 1};
  }
  Push push(std::uint32_t rank, std::uint64_t number, std::uint64_t base_version = 0) const {
    const std::vector<TableChunk> chunks = table().chunks;
    Push push;
    push.rank = rank;
    push.incarnation = 1;
    push.step = number;
    push.examples = job.batch;
    for (std::uint32_t chunk = 0; chunk < chunks.size(); ++chunk) {
      const std::uint64_t count = chunks[chunk].count;
      const auto values = make_buffer(count * sizeof(float));
      for (float& x : values->as<float>()) x = static_cast<float>(1 + rank);
      push.packets.push_back({.chunk = chunk,
                              .codec = Codec::FP32,
                              .count = count,
                              .payload = share(values),
                              .base_version = base_version});
    }
    return push;
  }
  std::vector<Verdict> all(Verdict verdict) const {
    return std::vector<Verdict>(table().chunks.size(), verdict);
  }
  static std::vector<Verdict> verdicts(const Result<PushReply>& reply) {
    if (reply) return reply->verdicts;
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  /// The first of some chunks that a worker pulls.
  static std::vector<float> values(const Parameters& parameters) {
    const Bytes& bytes = parameters.chunks.front().payload;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  JobConfig job;
  /// By name, of those that can be found; others are looked for and never come.
  std::shared_ptr<std::map<std::string, AnyRef>> names =
      std::make_shared<std::map<std::string, AnyRef>>();

 private:
  static Task<Result<AnyRef>> find(Process& asker,
                                   std::shared_ptr<std::map<std::string, AnyRef>> names,
                                   std::string wanted) {
    while (!names->contains(wanted)) {
      co_await Sleep(asker.timers(), asker.loop().now() + std::chrono::milliseconds(1));
    }
    co_return names->at(wanted);
  }
};

}  // namespace sterna::actors
