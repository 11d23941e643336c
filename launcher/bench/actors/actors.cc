#include "launcher/bench/actors/actors.h"

namespace sterna::launcher {

namespace {
// Every ask has an armed deadline, as the figure says.
constexpr Duration kDeadline = std::chrono::seconds(10);
}  // namespace

/// One Drive while it goes on: as many tasks as the window, each with one ask in flight.
struct BenchPeerActor::Driving {
  Bytes body = share(make_buffer(kEchoBytes));
  Time end;
  std::uint64_t exchanges = 0;
  std::uint32_t running = 0;
  std::string error;
  Condition finished;
};

Task<void> BenchPeerActor::ask_on(std::shared_ptr<Driving> driving,
                                  ActorRef<EchoInterface> target) {
  // The clock is read every few exchanges, as by the raw drive.
  constexpr std::uint64_t kLookEvery = 16;
  while (driving->error.empty() && (driving->exchanges % kLookEvery != 0 || now() < driving->end)) {
    Future<Echo> answer = ask(target, Echo{driving->body}, kDeadline);
    const Result<Echo> echo = co_await answer;
    if (!echo) {
      driving->error = echo.error().message;
    } else {
      ++driving->exchanges;
    }
  }
  if (--driving->running == 0) driving->finished.notify_all();
}

Task<Result<Rate>> BenchPeerActor::on(Drive drive) {
  auto driving = std::make_shared<Driving>();
  // One exchange with each first: opening the links is not what is measured.
  for (const auto target : drive.targets) {
    STERNA_CO_TRY(ask(target, Echo{driving->body}, kDeadline));
  }
  const Time begin = now();
  driving->end = begin + drive.duration;
  driving->running = drive.window;
  for (std::uint32_t i = 0; i < drive.window; ++i) {
    run(ask_on(driving, drive.targets[i % drive.targets.size()]));
  }
  while (driving->running != 0) co_await driving->finished.wait();
  if (!driving->error.empty()) co_return Error{Errc::remote, driving->error};
  co_return Rate{driving->exchanges, now() - begin};
}

Task<Result<Rate>> BenchPeerActor::on(DriveRaw drive) {
  Task<Result<Rate>> rate = compute([drive = std::move(drive)] { return drive_raw(drive); });
  co_return co_await rate;
}

Result<Serving> BenchPeerActor::on(ServeRaw serve) {
  STERNA_ASSIGN(server_, RawEchoServer::start(serve.endpoint, serve.curve));
  return server_->serving();
}

void register_bench_actors(Registry& registry) {
  registry.add<EchoActor, NoArgs>("bench_echo");
  registry.add<BenchPeerActor, NoArgs>("bench_peer");
}

}  // namespace sterna::launcher
