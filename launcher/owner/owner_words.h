// What the launcher and the process that keeps a run say to each other (owner.h), over that
// process's standard streams:
//
//   to it     order      text: the resolved cluster file; data: what else (order_json)
//             ended      number: which placed node; text: why; its connection has ended
//             end        the run shall end; text: kToldToEnd where the launcher was told to
//             detach     the launcher leaves; the run goes on
//   from it   place      number: an id; data: the bootstrap of a node that belongs elsewhere
//             withdraw   number: the id of a placed node that is to be killed
//             progress   text: for a person
//             started    text: the run's state (run_state.h), secrets included
//             running    every actor runs
//             status     text: JSON of the run's status
//             detached   it is on its own
//             over       number: exit code; text: last words; data: the result's JSON
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "launcher/owner/owner.capnp.h"
#include "runtime/message/packed_message.h"

namespace sterna::launcher {

/// By SIGTERM: a checkpoint comes first.
inline constexpr const char* kToldToEnd = "SIGTERM";

struct OwnerWord {
  using Wire = schema::OwnerWord;
  std::string kind;
  std::string text = {};
  Bytes data = {};
  std::int64_t number = 0;
  STERNA_DECLARE_MESSAGE(OwnerWord);
};

/// The word as its stream has it: behind its size.
Bytes as_written(const OwnerWord& word);

/// Puts words together from the bytes of a stream.
class WordReader {
 public:
  explicit WordReader(std::function<void(OwnerWord)> on_word) : on_word_(std::move(on_word)) {}
  /// False if these are no words: nothing that comes after is either.
  bool take(std::string_view bytes);

 private:
  std::function<void(OwnerWord)> on_word_;
  std::string pending_;
};

}  // namespace sterna::launcher
