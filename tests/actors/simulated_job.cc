#include "tests/actors/simulated_job.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "actors/reader/preparation.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "input/formats/idx.h"
#include "kernels/sums/aggregate.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kSide = 28;

struct Split {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint16_t> labels;
};

/// Class c is a bright bar at row 2c + 4, with noise.
Split draw(std::size_t count, std::uint64_t seed) {
  SeededRandom random(seed);
  Split split;
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint16_t>(random.below(10));
    split.labels.push_back(label);
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t column = 0; column < kSide; ++column) {
        const bool bright = row / 2 == label + 2U && column > 4 && column < 24;
        split.pixels.push_back(static_cast<std::uint8_t>((bright ? 180 : 0) + random.below(60)));
      }
    }
  }
  return split;
}

}  // namespace

namespace {

/// Hands everything on to a server of its process, but flips one bit of one answer.
class BitFlipper final : public Actor<ParameterServerInterface> {
 public:
  BitFlipper(ActorRef<ParameterServerInterface> server, std::uint64_t version)
      : server_(server), version_(version) {}

  Task<Result<PushReply>> on(Push push) { return handed_on(std::move(push)); }
  Task<Result<Agreed>> on(Offer offer) { return handed_on(std::move(offer)); }
  Task<Result<Reserved>> on(Reserve reserve) { return handed_on(reserve); }
  void on(Release release) { tell(server_, release); }
  void on(Concluded concluded) { tell(server_, concluded); }
  Task<Result<Rejoined>> on(Rejoin rejoin) { return handed_on(rejoin); }
  Task<Result<Agreed>> on(RecallScalers recall) { return handed_on(recall); }
  Task<Result<Handover>> on(TakeOver take_over) { return handed_on(take_over); }
  Task<Result<ChunkCopy>> on(CopyChunk copy) { return handed_on(copy); }
  Task<Result<BoardCopy>> on(CopyBoard copy) { return handed_on(copy); }
  Task<Result<CopyKept>> on(KeepCopy copy) { return handed_on(std::move(copy)); }
  Task<Result<PushReply>> on(Forward push) { return handed_on(std::move(push)); }
  Task<Result<void>> on(Compare compare) { return handed_on(std::move(compare)); }
  Task<Result<KeepAnswer>> on(KeepVersion keep) { return handed_on(keep); }
  Task<Result<Parameters>> on(Pull pull) {
    const bool hit = pull.kind == PayloadKind::GRADIENT && pull.version == version_;
    const bool flips = hit && !std::exchange(flipped_, true);
    Task<Result<Parameters>> task = handed_on(std::move(pull));
    Result<Parameters> answer = co_await task;
    if (answer && flips) {
      float& scaler = answer->chunks.front().scaler;
      scaler = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaler) ^ 1U);
    }
    co_return answer;
  }

 private:
  template <class Message>
  Task<Result<typename Message::Reply>> handed_on(Message message) {
    auto answer = ask(server_, std::move(message), std::chrono::minutes(1));
    co_return co_await answer;
  }

  ActorRef<ParameterServerInterface> server_;
  std::uint64_t version_;
  bool flipped_ = false;
};

}  // namespace

void write_small_dataset(const std::filesystem::path& dir, std::size_t train, std::size_t test) {
  std::filesystem::create_directories(dir);
  const std::pair<input::Split, Split> splits[] = {{input::Split::train, draw(train, 1)},
                                                   {input::Split::test, draw(test, 2)}};
  for (const auto& [which, split] : splits) {
    const input::IdxNames names = input::mnist_names(which);
    EXPECT_TRUE(input::write_idx_images(dir / names.images, split.pixels, kSide, kSide).ok());
    EXPECT_TRUE(input::write_idx_labels(dir / names.labels, split.labels).ok());
  }
}

SimulatedJob::SimulatedJob() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  data_ = std::filesystem::path(::testing::TempDir()) /
          (std::string("sterna-job-") + test->name() + "-" + std::to_string(::getpid()));
  write_small_dataset(data_, 200, 60);
  job.net = "mlp";  // in many shapes: one tensor of three chunks, others of a few bytes
  job.hidden = {200, 50};
  job.steps = 30;
  job.batch = 4;
  job.seed = 11;
  job.ranks = 2;
  job.optimizer.name = "momentum";
  job.optimizer.learning_rate = 0.005;
  job.optimizer.weight_decay = 0.0005;
  job.optimizer.schedule = "polynomial";
  job.evaluation = {.every = 10, .examples = 20, .batch = 8};
  job.gradient.min_size = 1;
  job.data = {"mnist", data_.string()};
}

SimulatedJob::~SimulatedJob() { std::filesystem::remove_all(data_); }

std::shared_ptr<const Names> spawn_job(const JobConfig& job, const JobLayout& layout,
                                       const std::string& weights,
                                       RecordingObserver::Record& record,
                                       const std::shared_ptr<KeeperRecord>& kept,
                                       const std::function<Process&(const std::string&)>& home,
                                       Spawners* again) {
  const auto names = std::make_shared<Names>();
  const Finder finder = [names](Process&, std::string name, Duration) -> Task<Result<AnyRef>> {
    const auto found = names->find(name);
    if (found == names->end()) co_return Error{Errc::not_found, "no actor of this name"};
    co_return found->second;
  };
  const bool within = job.exchanges_within();  // then the worker is the server
  const std::uint32_t servers = within ? 0 : layout.servers;
  const std::string keeper = job.checkpoint.on() || job.resumes ? kKeeperName : "";
  const auto numbered = [](const char* what, std::uint32_t i) { return what + std::to_string(i); };
  EvaluatorArgs evaluator{.job = job,
                          .servers = {},
                          .observer = "launcher",
                          .weights = weights,
                          .backend = layout.evaluator_backend};
  WorkerArgs worker{.job = job,
                    .first_rank = 0,
                    .ranks = layout.ranks_per_worker,
                    .servers = {},
                    .readers = {},
                    .observer = "launcher",
                    .keeper = keeper,
                    .backend = layout.backend,
                    .evaluator = "evaluator"};
  ServerArgs server{.job = job,
                    .index = 0,
                    .servers = servers,
                    .workers = {},
                    .evaluator = "evaluator",
                    .keeper = keeper,
                    .observer = "launcher"};
  for (std::uint32_t i = 0; i < layout.workers; ++i) {
    server.workers.push_back({.name = numbered("worker", i),
                              .first_rank = i * layout.ranks_per_worker,
                              .ranks = layout.ranks_per_worker});
  }
  Process& launcher = home("launcher");
  (*names)["launcher"] = launcher.spawn<RecordingObserver>(record);
  if (!keeper.empty()) {
    KeeperSetup setup;
    setup.job = job;
    setup.folder = job.checkpoint.folder;
    for (std::uint32_t i = 0; i < servers; ++i) setup.servers.push_back(numbered("server", i));
    for (const WorkerRanks& one : server.workers) setup.workers.push_back(one.name);
    if (within) std::swap(setup.servers, setup.workers);
    setup.is_evaluated = true;
    if (job.resumes) {
      setup.state = std::make_shared<const SavedState>(
          SavedState::open(open_checkpoint(layout.resume).value()).value());
    }
    setup.record = kept;
    setup.copy_places = [places = layout.copies_at] { return places; };
    setup.say_no_copy = [&record](const std::string& line) { record.no_copies.push_back(line); };
    setup.say = [](const std::string&) {};
    setup.committed = [](const SavedCheckpoint&) {};
    (*names)[keeper] = launcher.spawn<CheckpointKeeper>(std::move(setup), finder);
  }
  const auto spawn_server = [&](const std::string& name, const std::string& partner,
                                bool replica) -> Process* {
    server.partner = partner;
    server.replica = replica;
    const auto spawn = [names, finder, server, name](Process& process) {
      (*names)[name] = process.spawn<ParameterServer>(server, finder);
    };
    Process& process = home(name);
    spawn(process);
    if (again != nullptr) (*again)[name] = spawn;
    return &process;
  };
  if (within) evaluator.servers.push_back("worker0");
  for (; server.index < servers; ++server.index) {
    const std::string name = numbered("server", server.index);
    const std::string replica = layout.replicas ? replica_of(name) : "";
    Process* const process = spawn_server(name, replica, false);
    if (server.index == 0 && layout.flip_at_version > 0) {
      const auto spawned = (*names)[name].as<ParameterServerInterface>().value();
      (*names)[name] = process->spawn<BitFlipper>(spawned, layout.flip_at_version);
    }
    worker.servers.push_back(name);
    evaluator.servers.push_back(name);
    if (!layout.replicas) continue;
    spawn_server(replica, name, true);
    worker.replicas.push_back(replica);
    evaluator.replicas.push_back(replica);
  }
  for (std::uint32_t i = 0; i < layout.readers; ++i) {
    const std::string name = numbered("reader", i);
    ReaderArgs reader{job, server.workers, 0, "launcher"};
    if (job.shards > 0) reader.shard = layout.readers_reversed ? layout.readers - 1 - i : i;
    const auto spawn = [names, finder, reader, name](Process& process) {
      (*names)[name] = process.spawn<InputReader>(reader, finder);
    };
    spawn(home(name));
    if (again != nullptr) (*again)[name] = spawn;
    worker.readers.push_back(name);
  }
  for (const WorkerRanks& hosted : server.workers) {
    worker.first_rank = hosted.first_rank;
    const auto spawn = [names, finder, worker, cores = layout.cores, name = hosted.name,
                        device = layout.device, times = layout.devices, within,
                        number = hosted.first_rank / layout.ranks_per_worker](Process& process) {
      const std::shared_ptr<kernels::Device> one = device ? device(number) : nullptr;
      Worker::Devices on(one == nullptr ? 0 : times, one);
      if (within) {
        (*names)[name] = process.spawn<ServingWorker>(worker, finder, cores, std::move(on));
      } else {
        (*names)[name] = process.spawn<Worker>(worker, finder, cores, std::move(on));
      }
    };
    spawn(home(hosted.name));
    if (again != nullptr) (*again)[hosted.name] = spawn;
  }
  const auto spawn = [names, finder, evaluator, on = layout.evaluator_device](Process& process) {
    (*names)["evaluator"] = process.spawn<Evaluator>(evaluator, finder, on);
  };
  spawn(home("evaluator"));
  if (again != nullptr) (*again)["evaluator"] = spawn;
  return names;
}

void SimulatedJob::launch(const JobLayout& layout) {
  record = {};
  *kept = {};
  deaths.clear();
  by_name_.clear();
  processes.clear();
  layout_ = layout;
  incarnations_.clear();
  job.ranks = layout.workers * layout.ranks_per_worker;
  job.averaged_ranks = job.gradient.host == HostRule::average ? layout.ranks_per_worker : 1;
  const auto home_of = [this](const std::string& name) -> Process& {
    test::SimProcess*& home = by_name_[name];
    if (layout_.one_process && name != "launcher") return *(home = by_name_["launcher"])->process;
    home = &start(name);
    hear_of_deaths(name);
    return *home->process;
  };
  names_ = spawn_job(job, layout, weights, record, kept, home_of, &again_);
}

void SimulatedJob::hear_of_deaths(const std::string& name) {
  by_name_.at(name)->process->set_on_death(
      [this, name](LocalId, const std::string& cause) { deaths.push_back(name + ": " + cause); });
}

void SimulatedJob::lose(const std::string& name) {
  test::SimProcess& lost = *std::exchange(by_name_.at(name), nullptr);
  const ProcessId id = lost.process->id();
  const std::uint64_t incarnation = incarnations_.try_emplace(name, 1).first->second;
  kill(lost);
  // As the nodes would.
  for (const auto& [other, there] : by_name_) {
    if (there != nullptr) there->process->process_down({{id, {}}, name, incarnation, "killed"});
  }
}

Result<void> SimulatedJob::inject_device_fault(const std::string& name) {
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  return process_of(name).process->find(ref_of(name).id.local)->suffer_device_fault();
}

void SimulatedJob::bring_back(const std::string& name) {
  std::uint64_t& incarnation = incarnations_.try_emplace(name, 1).first->second;
  by_name_.at(name) = &start(name, ++incarnation);
  hear_of_deaths(name);
  again_.at(name)(*by_name_.at(name)->process);
}

void SimulatedJob::finish() {
  loop.run_until(
      [this] {
        const bool is_kept = !job.checkpoint.on() || (kept->over && !kept->writes);
        return !deaths.empty() ||
               (is_kept && record.finished && record.done.size() >= layout_.workers);
      },
      loop.now() + std::chrono::hours(1));
}

std::string SimulatedJob::hash_of(const JobLayout& layout) {
  launch(layout);
  finish();
  for (const std::string& death : deaths) ADD_FAILURE() << death;
  if (!record.finished) {
    for (const std::string& line : log) ADD_FAILURE() << line;
  }
  return record.finished ? record.finished->parameters_sha256 : "";
}

namespace {

/// Keeps a copy of each gradient.
class Gradients final : public nets::GradientSink {
 public:
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    by_tensor[index].assign(gradient.values.begin(), gradient.values.end());
  }
  std::map<std::size_t, std::vector<float>> by_tensor;
};

/// What is pushed: each rank's gradients, or the averages of neighbours.
std::vector<Gradients> pushed(const JobConfig& job, std::vector<Gradients> of_ranks,
                              kernels::Isa isa) {
  if (job.averaged_ranks == 1) return of_ranks;
  std::vector<Gradients> averages(job.pushing_ranks());
  for (std::size_t i = 0; i < averages.size(); ++i) {
    for (auto& [tensor, first] : of_ranks[i * job.averaged_ranks].by_tensor) {
      std::vector<kernels::Packet> packets;
      packets.reserve(job.averaged_ranks);
      for (std::size_t k = 0; k < job.averaged_ranks; ++k) {
        const std::vector<float>& one = of_ranks[i * job.averaged_ranks + k].by_tensor[tensor];
        packets.push_back({kernels::Packing::fp32, 1, std::as_bytes(std::span(one))});
      }
      std::vector<float>& average = averages[i].by_tensor[tensor];
      average.resize(first.size());
      kernels::average(packets, average, isa);
    }
  }
  return averages;
}

using Scalers = std::vector<float>;

/// The part of a tensor that its scaler `index` is of.
std::span<const float> part_of(const JobConfig& job, std::span<const float> gradient,
                               std::size_t index) {
  if (!job.gradient.buckets) return gradient;
  const std::size_t first = index * kUnitElements;
  return gradient.subspan(first, std::min<std::size_t>(kUnitElements, gradient.size() - first));
}

Scalers own_scalers(const JobConfig& job, std::span<const float> gradient, kernels::Isa isa) {
  const std::size_t units = (gradient.size() + kUnitElements - 1) / kUnitElements;
  Scalers scalers;
  for (std::size_t i = 0; i < (job.gradient.buckets ? units : 1); ++i) {
    const auto clip = static_cast<float>(job.gradient.clip);
    scalers.push_back(kernels::scaler(part_of(job, gradient, i), clip, isa).value());
  }
  return scalers;
}

/// What one rank sends for one tensor: a packet for each scaler.
struct Sent {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<kernels::Packet> packets;
};

Sent send(const JobConfig& job, std::uint64_t step, std::uint32_t rank, std::uint32_t tensor,
          std::span<const float> gradient, const Scalers& scalers, kernels::Isa isa) {
  Sent sent;
  for (std::size_t i = 0; i < scalers.size(); ++i) {
    const std::span<const float> part = part_of(job, gradient, i);
    if (job.gradient.codec == "ternary") {
      auto& bytes = sent.bytes.emplace_back(kernels::planes_bytes(part.size()));
      kernels::ternarize(part, scalers[i],
                         {job.seed, static_cast<std::uint32_t>(step), rank, tensor},
                         i * kUnitElements, bytes, isa);
      sent.packets.push_back({kernels::Packing::planes, scalers[i], bytes});
    } else {
      const auto bytes = std::as_bytes(part);
      sent.packets.push_back(
          {kernels::Packing::fp32, 1, sent.bytes.emplace_back(bytes.begin(), bytes.end())});
    }
  }
  return sent;
}

/// The average of what the ranks sent for one part of a tensor.
std::vector<float> average(const JobConfig& job, const std::vector<Sent>& sent, std::size_t part,
                           std::size_t count, kernels::Isa isa) {
  std::vector<kernels::Packet> packets;
  for (const Sent& one : sent) packets.push_back(one.packets[part]);
  std::vector<float> average(count);
  if (job.gradient.codec != "ternary" || job.gradient.scaler == ScalerRule::own) {
    kernels::average(packets, average, isa);
    return average;
  }
  // With one scaler for all, in integers.
  std::vector<float> trits(count);
  for (const kernels::Packet& packet : packets) {
    kernels::decode(packet.payload, 1.0F, trits, isa);
    for (std::size_t i = 0; i < count; ++i) average[i] += trits[i];
  }
  const float each = packets.front().scaler / static_cast<float>(packets.size());
  for (float& x : average) x *= each;
  return average;
}

Scalers mean(const std::vector<Scalers>& of_ranks) {
  Scalers mean;
  for (std::size_t i = 0; i < of_ranks.front().size(); ++i) {
    double sum = 0;
    for (const Scalers& scalers : of_ranks) sum += double{scalers[i]};
    mean.push_back(static_cast<float>(sum / static_cast<double>(of_ranks.size())));
  }
  return mean;
}

Scalers largest(const std::vector<Scalers>& of_ranks) {
  Scalers largest = of_ranks.front();
  for (const Scalers& scalers : of_ranks) {
    for (std::size_t i = 0; i < largest.size(); ++i) {
      largest[i] = std::max(largest[i], scalers[i]);
    }
  }
  return largest;
}

}  // namespace

namespace {

/// What [init] takes, without the code that takes it.
void take_from_file(const JobConfig& job, const std::string& name, std::span<float> values) {
  if (job.init.from.empty()) return;
  const auto file = nets::read_safetensors(job.init.from).value();
  for (const nets::NamedTensor& tensor : file.tensors) {
    const bool skipped = std::ranges::any_of(
        job.init.skip, [&](const std::string& prefix) { return name.starts_with(prefix + "/"); });
    if (tensor.name == name && !skipped) std::ranges::copy(tensor.values, values.begin());
  }
}

}  // namespace

std::string sequential_oracle(const JobConfig& job, std::vector<std::vector<float>>* averages) {
  const kernels::Isa isa = kernels::parse_isa(job.cpu_isa).value();
  const input::MemorySource source(input::load_mnist(job.data.dir, input::Split::train).value());
  const input::Preparation how = preparation_of(job, source.facts(), source.facts().count).value();
  const bool decays = job.optimizer.decay_at == DecayAt::worker;
  const auto decay = decays ? static_cast<float>(job.optimizer.weight_decay) : 0.0F;
  const auto net = [&] {
    nets::NetOptions options = net_options(job);
    options.weight_decay = decay;
    return nets::make_net(options).value();
  }();
  const auto tensors = static_cast<std::uint32_t>(net->parameters().size());
  const UpdateRule rule = UpdateRule::make(job).value();
  std::vector<std::vector<std::vector<float>>> slots(tensors);
  for (std::uint32_t t = 0; t < tensors; ++t) {
    nets::initialize(net->parameter(t), net->parameters()[t], {job.seed, t});
    take_from_file(job, net->parameters()[t].name, net->parameter(t));
    if (t >= net->trained()) continue;
    for (const float start : rule.slots()) {
      slots[t].emplace_back(net->parameter(t).size(), start);
    }
  }
  const auto start_averages = [&] {
    for (std::uint32_t t = 0; t < tensors; ++t) {
      averages->emplace_back(net->parameter(t).begin(), net->parameter(t).end());
    }
  };
  const auto move_averages = [&](double step) {
    const double decay = std::min(job.optimizer.average_decay, (1 + step) / (10 + step));
    for (std::uint32_t t = 0; t < tensors; ++t) {
      for (std::size_t i = 0; i < (*averages)[t].size(); ++i) {
        float& e = (*averages)[t][i];
        e -= static_cast<float>(1 - decay) * (e - net->parameter(t)[i]);
      }
    }
  };
  if (averages != nullptr) start_averages();
  input::PreparedBatch batch(how, job.batch);
  std::vector<Scalers> last(tensors);  // shared, of the step before
  for (std::uint64_t step = job.first_step; step < job.steps; ++step) {
    std::vector<Gradients> gradients(job.ranks);
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
      const auto rows = input::batch_rows({.seed = job.seed,
                                           .step = step,
                                           .rank = rank,
                                           .ranks = job.ranks,
                                           .batch = job.batch,
                                           .first_step = job.first_step,
                                           .first_position = job.first_position},
                                          source.facts().count);
      EXPECT_TRUE(input::prepare_training(source, 0, rows, how, batch.rows()).ok());
      for (std::uint32_t t = 0; t < tensors; ++t) net->parameters_changed(t);
      EXPECT_TRUE(net->train_step(nets::PixelImages{batch.pixels, batch.levels}, batch.labels,
                                  gradients[rank],
                                  {job.seed, static_cast<std::uint32_t>(step), rank})
                      .ok());
    }
    gradients = pushed(job, gradients, isa);
    const auto pushing = static_cast<std::uint32_t>(gradients.size());
    for (std::uint32_t t = net->trained(); t < tensors; ++t) {
      const float part = static_cast<float>(
          1 - std::min(double{net->parameters()[t].moving_decay},
                       (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step))));
      for (std::size_t i = 0; i < net->parameter(t).size(); ++i) {
        float sum = gradients[0].by_tensor[t][i];
        for (std::uint32_t rank = 1; rank < pushing; ++rank) {
          sum += gradients[rank].by_tensor[t][i];
        }
        float& moved = net->parameter(t)[i];
        moved -= part * (moved - sum / static_cast<float>(pushing));
      }
    }
    for (std::uint32_t t = 0; t < net->trained(); ++t) {
      if (!job.init.trains(net->parameters()[t].name)) continue;
      std::vector<Scalers> own;
      for (Gradients& one : gradients) own.push_back(own_scalers(job, one.by_tensor[t], isa));
      const Scalers shared = job.gradient.scaler == ScalerRule::mean ? mean(own) : largest(own);
      const bool late = job.gradient.scaler == ScalerRule::last_step && step > job.first_step;
      std::vector<Sent> sent;
      sent.reserve(pushing);
      for (std::uint32_t i = 0; i < pushing; ++i) {
        const Scalers& used = job.gradient.scaler == ScalerRule::own ? own[i]
                              : late                                 ? last[t]
                                                                     : shared;
        sent.push_back(
            send(job, step, i * job.averaged_ranks, t, gradients[i].by_tensor[t], used, isa));
      }
      last[t] = shared;
      const std::span<float> w = net->parameter(t);
      const kernels::UpdateOptions options =
          rule.options(net->parameters()[t], rule.constants(step));
      for (std::size_t part = 0, first = 0; part < shared.size(); ++part) {
        const std::size_t count = part_of(job, w, part).size();
        const std::vector<float> gradient = average(job, sent, part, count, isa);
        const kernels::Packet packet{kernels::Packing::fp32, 1, std::as_bytes(std::span(gradient))};
        std::vector<std::span<float>> places;
        for (auto& slot : slots[t]) places.push_back(std::span(slot).subspan(first, count));
        const std::span<float> values = w.subspan(first, count);
        kernels::update(std::span(&packet, 1), options,
                        {.current = values, .slots = places, .next = values}, isa);
        first += count;
      }
    }
    if (averages != nullptr) move_averages(static_cast<double>(step));
  }
  return parameters_sha256(*net).value();
}

}  // namespace sterna::actors
