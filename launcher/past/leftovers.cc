#include "launcher/past/leftovers.h"

#include <fmt/format.h>

#include <sstream>

#include "launcher/hosts/host_shell.h"

namespace sterna::launcher {
namespace {

/// How long a host may take to answer beyond what it is told to wait.
constexpr Duration kAnswerTakes = std::chrono::seconds(20);

/// `l WORD` says one line "STERNA process PID COMMAND-LINE" for each process of any run whose
/// command line holds the word; blanks within an argument are "_". The shell that says so holds it
/// too, but not as its first argument.
constexpr std::string_view kList =
    R"sh(l() { for f in $(grep -ls -e "$1" /proc/[0-9]*/cmdline); do p=${f%/cmdline}; )sh"
    R"sh([ -O $p ] && tr "\0 \n" " __" < $f | { read -r a b c; case $b in __process|__own) )sh"
    R"sh(echo "STERNA process ${p#/proc/} $a $b $c";; esac; }; done 2>/dev/null; }; )sh";

/// Waits `w` fifths of a second for the processes of run `r` to end, then kills them with their
/// process groups, and removes the sockets of killed nodes.
constexpr std::string_view kSweep =
    R"sh(m() { l $r | while read -r a b p c; do case $c in *" $r "*) echo $p;; esac; done; }; )sh"
    R"sh(i=0; o=$(m); while [ -n "$o" ] && [ $i -lt $w ]; do sleep 0.2; i=$((i+1)); o=$(m); done; )sh"
    R"sh(f=$(echo $o | wc -w); for p in $o; do kill -KILL -$p 2>/dev/null; kill -KILL $p 2>/dev/null; done; )sh"
    R"sh(i=0; while [ -n "$o" ] && [ $i -lt 10 ]; do sleep 0.2; i=$((i+1)); o=$(m); done; )sh"
    R"sh(rm -rf /tmp/sterna-$r-?????? "${TMPDIR:-/tmp}"/sterna-$r-??????; )sh"
    R"sh(echo "STERNA swept $((f)) $(($(echo $o | wc -w)))")sh";

/// Each process of any run, and behind it "STERNA log PID FILE".
constexpr std::string_view kListAll =
    R"sh(l __ | while read -r x; do echo "$x"; p=${x#* process }; p=${p%% *}; )sh"
    R"sh(echo "STERNA log $p $(readlink /proc/$p/fd/2)"; done 2>/dev/null; echo STERNA listed)sh";

constexpr std::size_t kRunDigits = 16;  // hexadecimal

std::vector<ShellQuestion> questions_of(const std::vector<StateHost>& hosts,
                                        const std::string& script) {
  std::vector<ShellQuestion> questions;
  questions.reserve(hosts.size());
  for (const StateHost& host : hosts) questions.push_back({host.name, host.ssh, script});
  return questions;
}

bool is_run(const std::string& hex) {
  return hex.size() == kRunDigits && hex.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Takes what a host says in answer to kListAll.
class ProcessLines {
 public:
  ProcessLines(std::string host, std::vector<HostProcess>& found)
      : host_(std::move(host)), found_(found) {}

  void take(const std::string& line) {
    // A login shell that prints without a line end comes before our word.
    const std::size_t mark = line.find("STERNA ");
    if (mark == std::string::npos) return;
    std::istringstream words(line.substr(mark));
    std::string sterna, kind;
    std::int64_t pid = 0;
    if (!(words >> sterna >> kind >> pid)) return;
    if (kind == "process") take_process(words, pid);
    if (kind == "log" && !found_.empty() && found_.back().pid == pid) {
      std::getline(words >> std::ws, found_.back().log);
      if (!found_.back().log.starts_with('/')) found_.back().log.clear();
    }
  }

 private:
  void take_process(std::istringstream& words, std::int64_t pid) {
    std::string program, mark;
    HostProcess one;
    one.host = host_;
    one.pid = pid;
    if (!(words >> program >> mark >> one.name >> one.run) || !is_run(one.run)) return;
    one.keeps = mark == "__own";
    if (one.keeps || mark == "__process") found_.push_back(std::move(one));
  }

  std::string host_;
  std::vector<HostProcess>& found_;
};

}  // namespace

std::vector<HostSweep> sweep(RealMachine& machine, const std::vector<StateHost>& hosts,
                             std::uint64_t run, Duration patience) {
  constexpr Duration kLook = std::chrono::milliseconds(200);
  const std::string script =
      fmt::format("r={:016x}; w={}; {}{}", run, patience / kLook, kList, kSweep);
  const std::vector<ShellQuestion> questions = questions_of(hosts, script);
  const std::vector<ShellAnswer> answers = ask_shells(machine, questions, patience + kAnswerTakes);
  std::vector<HostSweep> swept;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    HostSweep& one = swept.emplace_back();
    one.host = hosts[i].name;
    const std::size_t at = answers[i].output.find("STERNA swept ");
    if (at == std::string::npos) {
      one.error = shell_trouble(questions[i], answers[i]);
      continue;
    }
    std::istringstream line(answers[i].output.substr(at + 13));
    line >> one.found >> one.left;
  }
  return swept;
}

std::vector<HostProcess> processes_on(RealMachine& machine, const std::vector<StateHost>& hosts,
                                      std::vector<std::string>& errors) {
  const std::string script = fmt::format("{}{}", kList, kListAll);
  const std::vector<ShellQuestion> questions = questions_of(hosts, script);
  const std::vector<ShellAnswer> answers = ask_shells(machine, questions, kAnswerTakes);
  std::vector<HostProcess> found;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (answers[i].output.find("STERNA listed") == std::string::npos) {
      errors.push_back(shell_trouble(questions[i], answers[i]));
      continue;
    }
    ProcessLines process_lines(hosts[i].name, found);
    std::istringstream lines(answers[i].output);
    for (std::string line; std::getline(lines, line);) process_lines.take(line);
  }
  return found;
}

}  // namespace sterna::launcher
