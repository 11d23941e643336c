#include "runtime/remote/remote_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "runtime/host/lifeline.h"

namespace sterna {

namespace {

constexpr std::size_t kSessionChunk = 256U << 10;
/// Handed to the pipe at once; more would only lie in memory.
constexpr std::uint64_t kMostInFlight = 1U << 20;
/// Of what the other side says, so much is kept at most.
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kErrorsKept = 4096;
constexpr std::size_t kNoiseShown = 80;
constexpr std::string_view kSessionMark = "STERNA ";

}  // namespace

RemoteSession::RemoteSession(UvLoop& loop, Options options, Events events)
    : loop_(loop), options_(std::move(options)), events_(std::move(events)) {
  loop_.add(*this);
}

Result<std::unique_ptr<RemoteSession>> RemoteSession::open(UvLoop& loop, Options options,
                                                           Events events) {
  for (const std::string* text : {&options.work, &options.bundle.hash, &options.bundle.program}) {
    if (!plain_for_shell(*text)) {
      return Error{Errc::invalid_argument,
                   "'" + *text +
                       "' holds what a remote shell would misread: use letters, digits "
                       "and /._-"};
    }
  }
  std::unique_ptr<RemoteSession> session(
      new RemoteSession(loop, std::move(options), std::move(events)));
  const Options& told = session->options_;
  const std::string script = remote_script(told.work, told.bundle.hash, told.bundle.program);
  std::vector<std::string> command = told.command;
  if (told.through_shell) {
    command.push_back(as_ssh_command(script));
  } else {
    command.insert(command.end(), {"/bin/sh", "-c", script});
  }
  PipedProcess::Events from_process;
  RemoteSession* self = session.get();
  from_process.output = [self](std::string_view bytes) { self->output(bytes); };
  from_process.errors = [self](std::string_view bytes) {
    self->errors_ += bytes;
    if (self->errors_.size() > kErrorsKept) {
      self->errors_.erase(0, self->errors_.size() - kErrorsKept);
    }
  };
  from_process.exited = [self](const ProcessExit& exit) { self->process_ended(exit); };
  STERNA_ASSIGN(session->process_, PipedProcess::start(loop, command, std::move(from_process)));
  session->touched();
  return session;
}

RemoteSession::~RemoteSession() {
  loop_.remove(*this);
  process_.reset();
  if (archive_ >= 0) ::close(archive_);
}

// ---- what the other side says ----

void RemoteSession::output(std::string_view bytes) {
  if (stage_ == Stage::running && events_.bytes) {
    events_.bytes(bytes);
    return;
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > kLongestLine) line_.resize(kLongestLine);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    said(line);
  }
}

void RemoteSession::said(std::string_view line) {
  // A login shell that prints without a line end comes before our word.
  const std::size_t mark = line.find(kSessionMark);
  if (mark == std::string_view::npos) {
    if (noise_.empty()) noise_ = line;
    if (stage_ == Stage::running && events_.line) events_.line(line);
    return;
  }
  line.remove_prefix(mark);
  touched();
  if (line.starts_with("STERNA broken ")) {
    give_up(fmt::format("{}: {}", options_.host, line.substr(14)));
  } else if (const auto facts = parse_facts(line); facts && stage_ == Stage::connecting) {
    facts_ = *facts;
    if (facts_.has_bundle) {
      stage_ = Stage::ready;
      events_.ready(facts_);
    } else {
      start_shipping(facts_.part_bytes);
    }
  } else if (line == "STERNA unpacked" && stage_ == Stage::unpacking) {
    stage_ = Stage::ready;
    events_.ready(facts_);
  } else if (line.starts_with("STERNA ending: ")) {
    verdict_ = fmt::format("the node agent of {} ended: {}", options_.host, line.substr(15));
  } else if (line == Lifeline::kDetached.substr(0, Lifeline::kDetached.size() - 1)) {
    detached_ = true;
    kill();
  }
}

// ---- shipping ----

void RemoteSession::start_shipping(std::uint64_t from) {
  stage_ = Stage::shipping;
  archive_ = ::open(options_.bundle.archive.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (archive_ < 0 || ::fstat(archive_, &status) != 0) {
    give_up(system_error(options_.bundle.archive, errno).message);
    return;
  }
  archive_size_ = static_cast<std::uint64_t>(status.st_size);
  constexpr std::uint64_t kUnpackedIs = 5;  // times the archive, at most
  if (facts_.free_bytes > 0 && facts_.free_bytes < archive_size_ * kUnpackedIs) {
    give_up(fmt::format(
        "{}: the disk of {} has {:.0f} MB free and the program takes {:.0f} MB; make room or set "
        "another folder with the key host.work",
        options_.host, options_.work, static_cast<double>(facts_.free_bytes) / 1e6,
        static_cast<double>(archive_size_ * kUnpackedIs) / 1e6));
    return;
  }
  // What is there is the beginning of the same archive: the hash is in its name.
  if (from > archive_size_) {
    write(copy_bytes("restart\n"));
    from = 0;
  }
  shipped_ = from;
  write(copy_bytes(fmt::format("ship {}\n", archive_size_ - from)));
  ship_more();
}

void RemoteSession::ship_more() {
  while (stage_ == Stage::shipping && in_flight_ < kMostInFlight) {
    const auto buffer =
        std::make_shared<Buffer>(std::min<std::uint64_t>(kSessionChunk, archive_size_ - shipped_));
    const ssize_t size =
        ::pread(archive_, buffer->data(), buffer->size(), static_cast<off_t>(shipped_));
    if (size < 0 || (size == 0 && shipped_ < archive_size_)) {
      give_up(options_.bundle.archive + " cannot be read any more");
      return;
    }
    if (size == 0) {
      stage_ = Stage::unpacking;
      write(copy_bytes("unpack\n"));
      return;
    }
    const auto sent = static_cast<std::uint64_t>(size);
    shipped_ += sent;
    in_flight_ += sent;
    process_->write({buffer, buffer->bytes().first(sent)}, [this, sent] {
      in_flight_ -= sent;
      touched();
      if (events_.shipping) events_.shipping(shipped_ - in_flight_, archive_size_);
      ship_more();
    });
  }
}

// ---- running ----

void RemoteSession::run(const std::vector<std::string>& arguments) {
  stage_ = Stage::running;
  deadline_ = kNever;
  std::string line = "run";
  for (const std::string& argument : arguments) line += " " + argument;
  write(copy_bytes(line + "\n"));
}

void RemoteSession::write(Bytes bytes) { process_->write(std::move(bytes)); }

// ---- the end ----

void RemoteSession::kill() { process_->signal(SIGKILL); }

void RemoteSession::give_up(const std::string& why) {
  if (verdict_.empty()) verdict_ = why;
  kill();
}

void RemoteSession::touched() {
  const bool waits = stage_ != Stage::running && stage_ != Stage::ready && stage_ != Stage::over;
  deadline_ = waits ? loop_.now() + options_.patience : kNever;
}

void RemoteSession::turn() {
  if (loop_.now() < deadline_) return;
  deadline_ = kNever;
  const double seconds = std::chrono::duration<double>(options_.patience).count();
  const char* doing = stage_ == Stage::connecting ? "did not answer"
                      : stage_ == Stage::shipping ? "takes no more of the program"
                                                  : "does not finish unpacking the program";
  std::string why =
      fmt::format("{} {} within {:g} s (deadlines.host)", options_.host, doing, seconds);
  if (stage_ == Stage::connecting && !noise_.empty()) {
    why += fmt::format("; its login shell said \"{}\"", noise_.substr(0, kNoiseShown));
  }
  give_up(why);
}

std::string RemoteSession::explanation(const ProcessExit& exit) const {
  if (!verdict_.empty()) return verdict_;
  if (stage_ == Stage::connecting && !noise_.empty() && errors_.empty()) {
    return fmt::format(
        "{}: its login shell says \"{}\" and ends; let it run commands (ssh {} true must work)",
        options_.host, noise_.substr(0, kNoiseShown), options_.command.back());
  }
  return explain_connection(options_.host, options_.command, errors_, exit);
}

void RemoteSession::process_ended(const ProcessExit& exit) {
  deadline_ = kNever;
  ProcessExit told = exit;
  told.words = explanation(exit);
  stage_ = Stage::over;
  if (events_.ended) events_.ended(told);
}

namespace {

/// What srun's words mean. Of several lines the first error is the cause of the others.
std::string explain_step(const std::string& host, std::string_view errors,
                         const ProcessExit& exit) {
  constexpr std::string_view kError = "error: ";
  if (const std::size_t at = errors.find(kError); at != std::string_view::npos) {
    const std::string_view line = errors.substr(at + kError.size());
    return fmt::format(
        "{}: Slurm could not keep a step there: {}; `scontrol show node {}` says "
        "how the node is",
        host, line.substr(0, line.find('\n')), host);
  }
  ProcessExit plain = exit;
  plain.words.clear();
  return fmt::format("{}: its step of the Slurm job has ended: srun {}", host, plain.text());
}

}  // namespace

std::string explain_connection(const std::string& host, const std::vector<std::string>& command,
                               std::string_view errors, const ProcessExit& exit) {
  const std::string& destination = command.empty() ? host : command.back();
  // Of a jump host that refuses, ssh's last line says only that nobody is behind it.
  const auto line_with = [&](std::string_view words) {
    const std::size_t at = errors.find(words);
    const std::size_t begin = errors.rfind('\n', at) + 1;
    return errors.substr(begin, errors.find_first_of("\r\n", at) - begin);
  };
  const auto says = [&](std::string_view words) {
    return errors.find(words) != std::string_view::npos;
  };
  // ssh's last line says it; what came before are banners and warnings.
  std::string_view last = errors;
  while (!last.empty() && (last.back() == '\n' || last.back() == '\r')) last.remove_suffix(1);
  last = last.substr(last.rfind('\n') + 1);
  if (!command.empty() && command.front() == "srun") return explain_step(host, errors, exit);
  if (says("REMOTE HOST IDENTIFICATION HAS CHANGED")) {
    return fmt::format(
        "{}: its host key has changed: somebody may be listening in; if the machine was set up "
        "anew: ssh-keygen -R {} and then ssh {} once",
        host, destination, destination);
  }
  if (says("Host key verification failed")) {
    return fmt::format("{}: its host key is not known here; log in once by hand: ssh {}", host,
                       destination);
  }
  if (says("Permission denied")) {
    return fmt::format(
        "{}: ssh asks for a password or refuses the key ({}); let a key in: ssh-copy-id {}", host,
        line_with("Permission denied"), destination);
  }
  if (says("cannot start ssh")) {
    return fmt::format("{}: {}; install ssh on this machine (openssh-client), or put it on PATH",
                       host, last);
  }
  if (says("Could not resolve hostname")) {
    return fmt::format("{}: nobody knows the name {}; correct host.ssh or host.address", host,
                       destination);
  }
  if (says("No space left on device")) {
    return fmt::format("{}: its disk is full; make room or set another folder with host.work",
                       host);
  }
  if (says("Connection refused") || says("timed out") || says("No route to host") ||
      says("Network is unreachable")) {
    return fmt::format("{}: ssh does not get there: {}; is it up, and does its sshd run?", host,
                       last);
  }
  if (!last.empty()) return fmt::format("{}: {}", host, last);
  ProcessExit plain = exit;
  plain.words.clear();
  return fmt::format("{}: {} {}", host, command.empty() ? "it" : command.front(), plain.text());
}

}  // namespace sterna
