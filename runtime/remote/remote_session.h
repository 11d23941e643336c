// RemoteSession: one connection (ssh, srun) to one host, from "is anybody there" to a program that
// runs on it: says what the host has, ships the bundle if it lacks it, starts the program, and then
// is that program's standard streams.
//
// One process of this host, one connection, no control sockets: when it ends, or its standard input
// does, the program over there knows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/host/piped_process.h"
#include "runtime/remote/remote_script.h"

namespace sterna {

/// What is to run on other hosts, and the archive (tar.gz) from which they get it.
struct RemoteBundle {
  std::string hash;
  std::string program;  ///< its file's name in the bundle's bin/
  std::string archive;  ///< path on this host; read only if a host lacks the bundle
};

class RemoteSession final : private Loop::Source {
 public:
  struct Options {
    std::string host;                  ///< as messages call it
    std::vector<std::string> command;  ///< runs a shell command there: "ssh", ..., destination
    bool through_shell = true;         ///< the command's last word is read by a login shell
    std::string work = "~/.cache/sterna";
    RemoteBundle bundle;
    /// Without progress for so long it is given up.
    Duration patience = std::chrono::seconds(30);
  };
  struct Events {
    /// The bundle is there: run() may follow.
    std::function<void(const RemoteFacts&)> ready;
    /// Payload bytes on their way, of all that are to be sent (none: the host had it).
    std::function<void(std::uint64_t done, std::uint64_t total)> shipping;
    /// A line that the program said on its standard output.
    std::function<void(std::string_view line)> line;
    /// Instead of lines, once run(): the bytes as they come.
    std::function<void(std::string_view bytes)> bytes;
    /// Once. `words` of the exit say what went wrong, in a line for the user.
    std::function<void(const ProcessExit&)> ended;
  };

  /// Loop thread only; the loop must outlive it.
  static Result<std::unique_ptr<RemoteSession>> open(UvLoop& loop, Options options, Events events);
  ~RemoteSession() override;
  RemoteSession(const RemoteSession&) = delete;
  RemoteSession& operator=(const RemoteSession&) = delete;

  /// After ready(): the shell becomes the program, with these arguments (no spaces in them).
  void run(const std::vector<std::string>& arguments);
  /// To the program's standard input.
  void write(Bytes bytes);
  /// The program has said that it is on its own: from here on its host is no concern of ours.
  bool detached() const { return detached_; }
  bool running() const { return stage_ == Stage::running; }
  const std::string& host() const { return options_.host; }
  /// Ends the connection; the program over there notices by itself.
  void kill();

 private:
  enum class Stage { connecting, shipping, unpacking, ready, running, over };
  RemoteSession(UvLoop& loop, Options options, Events events);
  void output(std::string_view bytes);
  void said(std::string_view line);
  void start_shipping(std::uint64_t from);
  void ship_more();
  void give_up(const std::string& why);
  void touched();
  void turn() override;
  bool ready() override { return loop_.now() >= deadline_; }
  Time next_deadline() override { return deadline_; }
  void process_ended(const ProcessExit& exit);
  std::string explanation(const ProcessExit& exit) const;

  UvLoop& loop_;
  Options options_;
  Events events_;
  std::unique_ptr<PipedProcess> process_;
  Stage stage_ = Stage::connecting;
  RemoteFacts facts_;
  std::string line_;    ///< the beginning of a line
  std::string noise_;   ///< the first thing said that was none of ours
  std::string errors_;  ///< the last of its standard error
  std::string verdict_;
  bool detached_ = false;
  int archive_ = -1;
  std::uint64_t shipped_ = 0;
  std::uint64_t archive_size_ = 0;
  std::uint64_t in_flight_ = 0;
  Time deadline_ = kNever;
};

/// What ssh's or srun's words mean and what to do about it, in one line; `errors` is its standard
/// error.
std::string explain_connection(const std::string& host, const std::vector<std::string>& command,
                               std::string_view errors, const ProcessExit& exit);

}  // namespace sterna
