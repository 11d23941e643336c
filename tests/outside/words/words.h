// words.h
#pragma once
#include <memory>
#include <optional>
#include <sstream>

#include "runtime/cluster/peer.h"
#include "runtime/main.h"
#include "words.capnp.h"

namespace words {
using std::chrono::seconds;
using sterna::Actor, sterna::Interface, sterna::Peer, sterna::Result, sterna::Task;

struct Counted {
  using Wire = wire::Counted;
  std::uint64_t words = 0;
  STERNA_INLINE_MESSAGE(Counted, FIELD(words, Words))
};
struct Count {
  using Wire = wire::Count;
  using Reply = Counted;
  static constexpr sterna::Lane kLane = sterna::Lane::data;
  static constexpr bool kAskedAgain = true;  // twice is as good as once: a mapper keeps nothing
  sterna::Bytes text;
  STERNA_INLINE_MESSAGE(Count, FIELD(text, Text, at_most(1U << 20)))
};
struct Await {  // answered when all is counted
  using Wire = wire::Await;
  using Reply = Counted;
  STERNA_INLINE_MESSAGE(Await)
};
struct MapperArgs {
  using Wire = wire::MapperArgs;
  std::uint32_t shortest = 1;
  STERNA_INLINE_MESSAGE(MapperArgs, FIELD(shortest, Shortest, at_least(1)))
};
struct BoardArgs {
  using Wire = wire::BoardArgs;
  std::vector<std::string> mappers;
  std::uint32_t texts = 100;
  bool stops = false;  // when all is counted
  STERNA_INLINE_MESSAGE(BoardArgs, FIELD(mappers, Mappers, not_empty), FIELD(texts, Texts),
                        FIELD(stops, Stops))
};
struct Mapper : Interface<Count> {};
struct Board : Interface<Await> {};

class MapperActor final : public Actor<Mapper> {
 public:
  explicit MapperActor(MapperArgs args) : args_(args) {}
  Task<Counted> on(Count count) {  // by value: the task keeps it
    auto counting = compute([text = count.text, shortest = args_.shortest] {  // owns what it uses
      std::istringstream in{std::string(sterna::text_of(text.view()))};
      Counted found;
      for (std::string word; in >> word;) found.words += word.size() >= shortest;
      return found;
    });
    co_return co_await counting;
  }

 private:
  const MapperArgs args_;
};

class BoardActor final : public Actor<Board> {
 public:
  explicit BoardActor(BoardArgs args) : args_(std::move(args)) {}
  Task<Counted> on(Await) {
    while (counted_ < args_.texts) co_await changed_.wait();
    co_return Counted{words_};
  }

 private:
  void started() override {  // the constructor has no process yet: no poster, no peers, no log
    window_.emplace(poster(), 64 << 10);
    for (const std::string& name : args_.mappers) {
      mappers_.push_back(std::make_unique<Peer<Mapper>>(*this, name, seconds(10)));
    }
    for (std::uint32_t i = 0; i < args_.texts; ++i) run(count(*mappers_[i % mappers_.size()]));
  }
  Task<Result<void>> count(Peer<Mapper>& mapper) {  // a reference, but to what this actor owns
    Count question{sterna::copy_bytes("terns fly from pole to pole")};
    const std::size_t bytes = question.text.size();
    STERNA_CO_ASSIGN(const Counted counted,  // an error of it fails this actor
                     mapper.ask_within(*window_, bytes, std::move(question), seconds(10)));
    words_ += counted.words;
    if (++counted_ == args_.texts) {
      changed_.notify_all();
      log(std::to_string(words_) + " words");
      if (args_.stops) stop();
    }
    co_return Result<void>{};
  }

  const BoardArgs args_;
  std::optional<sterna::ByteWindow> window_;
  std::vector<std::unique_ptr<Peer<Mapper>>> mappers_;
  std::uint64_t words_ = 0;
  std::uint32_t counted_ = 0;
  sterna::Condition changed_;
};

inline sterna::Registry registry() {
  sterna::Registry registry;
  registry.add<MapperActor, MapperArgs>("mapper");
  registry.add<BoardActor, BoardArgs>("board");
  return registry;
}

/// Starts two mappers, which come again if they are lost, and a board; and awaits what they count.
inline Result<Counted> count_all(sterna::Cluster& cluster) {
  const std::vector<std::string> names = {"mapper0", "mapper1"};
  std::vector<sterna::ActorSpec> mappers;
  for (const std::string& name : names) {
    mappers.push_back({.name = name, .type = "mapper", .args = sterna::pack(MapperArgs{})});
    mappers.back().restart.times = 3;
  }
  STERNA_TRY(cluster.start_actors(mappers));
  STERNA_ASSIGN(const auto board, cluster.spawn<Board>("board0", "board", BoardArgs{names}));
  return cluster.ask(board, Await{}, seconds(60));
}
}  // namespace words
