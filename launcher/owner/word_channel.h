// WordChannel: an owner's standard streams as a stream of words to and from the launcher.
#pragma once

#include <functional>

#include "launcher/owner/owner_words.h"
#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {

/// Blocks until the first word of standard input (or of another descriptor) is there; fails at its
/// end.
Result<OwnerWord> read_first_word(int from = 0);

class WordChannel {
 public:
  struct Events {
    std::function<void(OwnerWord)> word;
    std::function<void()> ended;  ///< the launcher is gone; once
  };
  /// Standard input and output are its own from here on. Loop thread only.
  WordChannel(UvLoop& loop, Events events);
  ~WordChannel();
  WordChannel(const WordChannel&) = delete;
  WordChannel& operator=(const WordChannel&) = delete;

  void send(const OwnerWord& word);
  /// The same, unless a launcher that does not read has let much gather already.
  void send_if_heard(const OwnerWord& word);
  /// Says one last word; the standard streams lead nowhere from then on.
  void close(const OwnerWord& last);

 private:
  struct Pipes;
  Pipes* pipes_;  ///< freed when libuv has closed them
};

}  // namespace sterna::launcher
