// main.cc
#include <cstdio>

#include "counter.capnp.h"
#include "runtime/cluster/find_actor.h"
#include "runtime/main.h"
using sterna::Actor, sterna::Cluster, sterna::Interface, sterna::Registry, sterna::Result;
using sterna::Task, std::chrono::seconds;  // sterna has a Stop, a Report and a Time of its own

struct Total {  // a message: a plain struct, and its fields in the schema
  using Wire = wire::Total;
  std::int64_t value = 0;
  STERNA_INLINE_MESSAGE(Total, FIELD(value, Value))
};
struct Add {
  using Wire = wire::Add;
  using Reply = Total;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Add, FIELD(amount, Amount))
};
struct Counter : Interface<Add> {};
class CounterActor final : public Actor<Counter> {
 public:
  explicit CounterActor(Total start) : total_(start) {}
  Total on(Add add) { return {total_.value += add.amount}; }

 private:
  Total total_;
};
struct Adder : Interface<> {};
class AdderActor final
    : public Actor<Adder> {  // finds the counter by its name, adds once, and ends
 public:
  explicit AdderActor(Add add) : add_(add) {}

 private:
  void started() override { run(add_once()); }
  Task<Result<void>> add_once() {  // an error ends the whole run, which says what it was
    STERNA_CO_ASSIGN(const auto counter,
                     sterna::find_actor<Counter>(process(), "counter0", seconds(5)));
    STERNA_CO_ASSIGN(const Total total, ask(counter, add_, seconds(5)));
    log("the counter is at " + std::to_string(total.value));
    stop();
    co_return {};
  }
  Add add_;
};
int main(int argc, char** argv) {
  Registry registry;
  registry.add<CounterActor, Total>("counter");
  registry.add<AdderActor, Add>("adder");
  return sterna::main(argc, argv, registry, [](Cluster& cluster) {
    const auto counter = cluster.spawn<Counter>("counter0", "counter", Total{40});
    if (!counter) return 1;
    const auto total = cluster.ask(*counter, Add{2}, seconds(5));
    std::puts(total ? std::to_string(total->value).c_str() : total.error().message.c_str());
    return 0;
  });
}
