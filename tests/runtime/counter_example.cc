#include <cstdio>

#include "runtime/main.h"
#include "tests/runtime/counter_example.capnp.h"
using namespace sterna;

struct Total {  // a message: a plain struct, and how it goes over the wire
  using Wire = wire::Total;
  std::int64_t value = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setValue(value); }
  static Result<Total> decode(Wire::Reader in, WireReader&) { return Total{in.getValue()}; }
};
struct Add {
  using Wire = wire::Add;
  using Reply = Total;
  std::int64_t amount = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setAmount(amount); }
  static Result<Add> decode(Wire::Reader in, WireReader&) { return Add{in.getAmount()}; }
};
struct Counter : Interface<Add> {};
class CounterActor final : public Actor<Counter> {
 public:
  explicit CounterActor(Total start) : total_(start) {}
  Total on(Add add) { return {total_.value += add.amount}; }

 private:
  Total total_;
};
int main(int argc, char** argv) {
  sterna::Registry registry;
  registry.add<CounterActor, Total>("counter");
  return sterna::main(argc, argv, registry, [](sterna::Cluster& cluster) {
    const auto counter = cluster.spawn<Counter>("counter-0", "counter", Total{40});
    if (!counter) return 1;
    const auto total = cluster.ask(*counter, Add{2}, std::chrono::seconds(5));
    std::puts(total ? std::to_string(total->value).c_str() : total.error().message.c_str());
    return 0;
  });
}
