// TextWriter: text for a disk or a terminal that may take its time, written by a thread of its own.
//
// A process that waits for a hung disk, or for a terminal under Ctrl-S, would miss its heartbeats
// and be taken for dead. Here nobody waits: what does not fit into the queue is lost, and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/base/clock.h"

namespace sterna {

/// Somewhere that text goes.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void put(std::string text) = 0;
  /// Whether all of it is there.
  virtual bool idle() const = 0;
};

class TextWriter final : public TextSink {
 public:
  /// Writes all of the text, however long that takes. On the writer's thread, and perhaps after the
  /// writer is gone: it owns what it uses.
  using Write = std::function<void(std::string_view text)>;
  struct Options {
    std::size_t most_bytes = std::size_t{1} << 20;  ///< that wait
    /// What is written in place of texts that were lost, once there is room again; null: nothing.
    std::function<std::string(std::uint64_t lost)> instead = nullptr;
    /// So long the destructor waits for what is still to be written; the rest is lost.
    Duration patience = std::chrono::seconds(2);
  };

  explicit TextWriter(Write write);
  TextWriter(Write write, Options options);
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() override;

  /// From any thread. Never waits.
  void put(std::string text) override;
  bool idle() const override;
  /// Waits for what was put so far, at most so long; whether it is written.
  bool flush(Duration patience);
  /// Texts, since the beginning.
  std::uint64_t lost() const;
  /// How long what is being written now has taken so far.
  Duration writing_for() const;

 private:
  struct State;
  static void write_all(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
  Duration patience_;
  std::thread thread_;
};

/// Writes to an open descriptor, which stays open; what it does not take is dropped, and `failed`,
/// if there is one, is then the errno.
TextWriter::Write to_descriptor(int descriptor, std::shared_ptr<std::atomic<int>> failed = nullptr);

}  // namespace sterna
