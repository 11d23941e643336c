#include "launcher/doctor/checks.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "launcher/doctor/gpu_checks.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/text/text_format.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {
namespace {

/// Beyond it, times in logs and files of different hosts cannot be compared.
constexpr double kMostClockOffset = 1.0;
/// A node agent and a small actor.
constexpr std::uint64_t kLeastMemory = 256U << 20;
/// Beside the program: logs.
constexpr std::uint64_t kLeastDisk = 16U << 20;
constexpr std::uint64_t kUnpackedIs = 5;  // times the archive, at most

bool is_numeric(const std::string& address) {
  std::array<char, 16> bytes{};
  return ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

bool has_reader(const ClusterFile& file, const HostSection& host) {
  return std::any_of(file.actors.begin(), file.actors.end(), [&](const ActorPlan& actor) {
    return actor.host == host.name && actor.role == Role::kInputReader;
  });
}

/// Whether its processor runs nets whose activations are bf16.
bool computes_in_bf16(const ClusterFile& file, const HostSection& host) {
  if (file.job.precision != actors::Precision::bf16) return false;
  return std::any_of(file.actors.begin(), file.actors.end(), [&](const ActorPlan& actor) {
    return actor.host == host.name && actor.backend == "cpu" &&
           (actor.role == Role::kWorker || actor.role == Role::kEvaluator);
  });
}

/// What its processor must have for job.cpu_isa, as /proc/cpuinfo names it (kernels/isa/isa.cc).
std::vector<std::string> cpu_flags_wanted(const ClusterFile& file, const HostSection& host) {
  const bool any = std::ranges::any_of(
      file.actors, [&](const ActorPlan& actor) { return actor.host == host.name; });
  if (any && file.job.cpu_isa == "avx2") return {"avx2", "fma", "popcnt"};
  if (any && file.job.cpu_isa == "avx512") {
    return {"avx512f", "avx512bw", "avx512vl", "avx512dq", "bmi2"};
  }
  return {};
}

/// What its actors look for; empty: nothing, or what can be drawn.
std::string data_wanted(const ClusterFile& file, const HostSection& host) {
  if (!reads_data(file, host)) return "";
  const std::string& name = file.data.name;
  const bool any = name == input::kAnyDataSet;
  const input::DataSet* set = any ? &input::usual_data_set() : input::find_data_set(name);
  if (set == nullptr || input::lies_nowhere(*set)) return "";
  if (!file.data.train_files.empty() || !file.data.test_files.empty()) return "";  // any names
  const bool named = !host.data.empty() || !file.data.dir.empty();
  if (named) return name;
  // On the machine of the run, digits are drawn where nothing is found and nothing was asked for.
  const bool drawn = input::is_made_where_missing(*set) || (any && !is_remote(file, host));
  return drawn ? "" : std::string(set->name);
}

/// The weights that its servers begin with; empty: none. By a name alone they are looked for in the
/// home, where a shell on another machine begins, too.
std::string init_wanted(const ClusterFile& file, const HostSection& host) {
  const std::vector<std::string> servers = file.names_of_servers();
  const bool serves = std::ranges::any_of(file.actors, [&](const ActorPlan& actor) {
    return actor.host == host.name && std::ranges::count(servers, actor.name) > 0;
  });
  return serves ? file.init.from : "";
}

/// The shards that its readers hold, by their folders' names.
std::vector<std::string> shards_on(const ClusterFile& file, const HostSection& host) {
  std::vector<std::string> shards;
  for (const ActorPlan& actor : file.actors) {
    if (actor.host != host.name || actor.shards == 0) continue;
    shards.push_back(input::folder_name(
        {static_cast<std::uint32_t>(actor.shard), static_cast<std::uint32_t>(actor.shards)}));
  }
  return shards;
}

std::uint64_t memory_asked(const ClusterFile& file, const HostSection& host) {
  std::uint64_t sum = 0;
  for (const ActorPlan& actor : file.actors) {
    if (actor.host == host.name) sum += actor.memory;
  }
  return sum;
}

/// One host's findings while they are made.
class HostCheck {
 public:
  HostCheck(const ClusterFile& file, const HostSection& host, const ShippedProgram& program,
            const HostFacts& facts)
      : file_(file), host_(host), program_(program), facts_(facts) {}

  std::vector<Finding> run(const ShellAnswer& answer) && {
    check_shell();
    check_program();
    check_memory_and_disk();
    check_clock(answer);
    check_names();
    check_bind();
    check_ports();
    for (Finding& finding : check_gpus(file_, host_, program_, facts_)) {
      findings_.push_back(std::move(finding));
    }
    check_precision();
    check_cpu_isa();
    check_data();
    check_init();
    check_linger();
    return std::move(findings_);
  }

 private:
  void find(const std::string& check, const std::string& wrong, const std::string& fix) {
    findings_.push_back({host_.name, check, wrong, fix});
  }
  void hint(const std::string& check, const std::string& wrong, const std::string& fix) {
    findings_.push_back({host_.name, check, wrong, fix, true});
  }
  /// A command as it is typed here.
  std::string there(const std::string& command) const {
    return host_.ssh.empty() ? command : fmt::format("ssh {} {}", host_.ssh, command);
  }

  void check_shell() {
    if (facts_.noise.empty()) return;
    constexpr std::size_t kShown = 60;
    find("shell",
         fmt::format("its login shell prints \"{}\" before it runs a command",
                     cut(facts_.noise, kShown, "…")),
         "in its ~/.bashrc (or the like), before it prints: case $- in *i*) ;; *) return ;; esac");
  }

  void check_program() {
    if (facts_.arch != program_.arch) {
      find("arch",
           fmt::format("its processor is {}, the program is for {}", facts_.arch, program_.arch),
           fmt::format("build sterna on a {} machine and start from there", facts_.arch));
    }
    if (older_libc(facts_.libc, program_.libc)) {
      find("libc",
           fmt::format("it has {}, and the program was built with {}", facts_.libc, program_.libc),
           fmt::format("build sterna on a system with {} or older", facts_.libc));
    } else if (facts_.libc.find("musl") != std::string::npos) {
      find("libc",
           fmt::format("its C library is {}, the program wants {}", facts_.libc, program_.libc),
           "use a host with glibc");
    }
  }

  void check_memory_and_disk() {
    const std::uint64_t wanted = std::max(kLeastMemory, memory_asked(file_, host_));
    if (facts_.memory_free && *facts_.memory_free < wanted) {
      find("memory",
           fmt::format("{} of memory are free and its actors want {}",
                       bytes_text(*facts_.memory_free), bytes_text(wanted)),
           there("ps -eo rss,pid,args --sort=-rss | head"));
    }
    if (!facts_.work_writable) {
      find("work", fmt::format("it cannot write to {}: {}", host_.work, facts_.work_error),
           fmt::format("set another folder with host.work, or {}",
                       there(fmt::format("mkdir -p {}", host_.work))));
    }
    const bool ships = !program_.hash.empty() && !facts_.has_bundle && is_remote(file_, host_);
    const std::uint64_t room = kLeastDisk + (ships ? program_.archive_bytes * kUnpackedIs : 0);
    if (facts_.disk_free && *facts_.disk_free < room) {
      find("disk",
           fmt::format("the disk of {} has {} free and a run takes {}", host_.work,
                       bytes_text(*facts_.disk_free), bytes_text(room)),
           fmt::format("make room ({}), or set another folder with host.work",
                       there(fmt::format("du -sh {}", host_.work))));
    }
  }

  void check_clock(const ShellAnswer& answer) {
    if (!facts_.clock || !answer.asked || !answer.answered) return;
    const auto seconds = [](std::chrono::system_clock::time_point time) {
      return std::chrono::duration<double>(time.time_since_epoch()).count();
    };
    // It was read between the two moments; in a second without fraction, up to one later.
    const double most =
        *facts_.clock + (facts_.clock_has_fraction ? 0 : 1) - seconds(*answer.asked);
    const double least = *facts_.clock - seconds(*answer.answered);
    const double offset = least > 0 ? least : most < 0 ? most : 0;
    if (std::abs(offset) <= kMostClockOffset) return;
    find("clock",
         fmt::format("its clock is {:.1f} s {} this machine's", std::abs(offset),
                     offset > 0 ? "ahead of" : "behind"),
         there("sudo timedatectl set-ntp true"));
  }

  void check_names() {
    for (const auto& [name, found] : facts_.names) {
      if (!found.empty()) continue;
      find("names", fmt::format("it does not know the name {}", name),
           fmt::format("add {} to its /etc/hosts, or write a numeric address into the file", name));
    }
  }

  void check_bind() {
    if (!file_.talks_tcp() || facts_.addresses.empty()) return;
    std::vector<std::string> binds = {host_.bind};
    if (const auto known = facts_.names.find(host_.bind); known != facts_.names.end()) {
      binds = known->second;
    } else if (!is_numeric(host_.bind)) {
      return;
    }
    for (const std::string& bind : binds) {
      const std::string what =
          bind == host_.bind ? bind : fmt::format("{} (which is {} there)", host_.bind, bind);
      if (is_loopback(bind) && has_remote_hosts(file_)) {
        find("bind", fmt::format("{} reaches nobody but the host itself", what), other_bind());
        return;
      }
      // All of 127/8 is the host's, whatever its table lists.
      const auto& own = facts_.addresses;
      if (!is_loopback(bind) && std::find(own.begin(), own.end(), bind) == own.end()) {
        find("bind", fmt::format("{} is none of its own addresses", what), other_bind());
        return;
      }
    }
  }
  std::string other_bind() const {
    std::vector<std::string> good;
    for (const std::string& address : facts_.addresses) {
      if (!is_loopback(address) && !address.starts_with("fe80:")) good.push_back(address);
    }
    return fmt::format("set host.bind of {} to one of {}", host_.name, fmt::join(good, ", "));
  }

  void check_ports() {
    if (!file_.talks_tcp() || !file_.cluster.ports) return;
    const PortRange& range = *file_.cluster.ports;
    std::set<std::uint16_t> taken;
    for (const Listening& socket : facts_.listening) {
      const bool in_the_way = !is_numeric(host_.bind) || socket.address == host_.bind ||
                              socket.address == "0.0.0.0" || socket.address == "::";
      if (in_the_way && socket.port >= range.low && socket.port <= range.high) {
        taken.insert(socket.port);
      }
    }
    const std::int64_t all = range.high - range.low + 1;
    const std::int64_t free = all - static_cast<std::int64_t>(taken.size());
    const std::int64_t needed = processes_on(file_, host_) * kPortsPerProcess;
    if (free >= needed) return;
    find("ports",
         fmt::format("of the ports {}-{} {} are free and its processes need {}", range.low,
                     range.high, free, needed),
         fmt::format("widen cluster.ports, or stop what listens: {}", there("ss -ltnp")));
  }

  void check_precision() {
    constexpr std::string_view kElsewhere =
        "set job.precision to \"fp32\", or place workers and evaluator elsewhere, or on GPUs";
    if (facts_.slow_bf16) {
      hint("precision",
           "job.precision is \"bf16\", which takes longer than fp32 on its processor, one of "
           "Intel's without AMX",
           std::string(kElsewhere));
    }
    if (facts_.bf16.value_or(true)) return;
    find("precision",
         "job.precision is \"bf16\", and its processor has neither AVX512-BF16 nor AMX",
         std::string(kElsewhere));
  }

  void check_cpu_isa() {
    if (facts_.missing_cpu_flags.empty()) return;
    find("cpu_isa",
         fmt::format("job.cpu_isa is \"{}\", and its processor has no {}", file_.job.cpu_isa,
                     fmt::join(facts_.missing_cpu_flags, ", ")),
         "set job.cpu_isa to \"best\", or place its actors elsewhere");
  }

  /// What puts the data set into `at` on this host.
  std::string how_to_put(const std::string& wanted, const std::string& at) const {
    const input::DataSet* set = input::find_data_set(wanted);
    if (set != nullptr && set->format != input::usual_data_set().format) {
      return fmt::format("fill {}{}: it comes from {}", at, host_.ssh.empty() ? "" : " there",
                         set->source);
    }
    if (host_.ssh.empty()) return fmt::format("sterna data fetch mnist --dir {}", at);
    return fmt::format("sterna data fetch mnist && scp -r ~/.cache/sterna/mnist {}:{}", host_.ssh,
                       at);
  }

  void check_data() {
    const std::string wanted = data_wanted(file_, host_);
    if (wanted.empty()) return;
    const std::string folder = !host_.data.empty() ? host_.data : file_.data.dir;
    const std::string_view usual = input::usual_data_set().name;
    const std::string set(wanted == input::kAnyDataSet ? usual : std::string_view(wanted));
    const std::string at = folder.empty() ? "~/.cache/sterna/" + set : folder;
    const std::string put = how_to_put(wanted, at);
    const std::vector<std::string> shards = shards_on(file_, host_);
    if (facts_.data_found.empty()) {
      find("data",
           fmt::format("its data are not in {}{}", facts_.data_missing,
                       shards.empty() ? "" : fmt::format("; nor is {}", fmt::join(shards, ", "))),
           put);
    } else if (is_another_shard(shards)) {
      find("data",
           fmt::format("{} is {}, and its readers want {}", facts_.data_found, facts_.data_shard,
                       shards.empty() ? "the whole training set"
                                      : fmt::format("{}", fmt::join(shards, ", "))),
           shards.empty() ? put : "put these there, from what `sterna data split` writes");
    } else if (wanted == usual && facts_.data_is_drawn) {
      find("data",
           fmt::format("it has no mnist, which data.name asks for ({} holds drawn digits)",
                       facts_.data_found),
           put);
    }
  }

  void check_init() {
    if (!facts_.init_missing) return;
    const std::string& from = file_.init.from;
    // A checkpoint's folder has no ending.
    const std::string copy = std::filesystem::path(from).has_extension() ? "scp" : "scp -r";
    find("init", fmt::format("it has no {}, which init.from names", from),
         host_.ssh.empty()
             ? "correct init.from"
             : fmt::format("{2} {0} {1}:{0}, or correct init.from", from, host_.ssh, copy));
  }

  /// Whether what was found is one shard's folder, and not all that its readers want.
  bool is_another_shard(const std::vector<std::string>& wanted) const {
    if (facts_.data_shard.empty() || !has_reader(file_, host_)) return false;
    return wanted != std::vector<std::string>{facts_.data_shard};
  }

  void check_linger() {
    if (!facts_.kills_processes || facts_.lingers.value_or(true)) return;
    find("linger", "its systemd ends a user's processes when he logs out, an `up` run's too",
         there("loginctl enable-linger"));
  }

  const ClusterFile& file_;
  const HostSection& host_;
  const ShippedProgram& program_;
  const HostFacts& facts_;
  std::vector<Finding> findings_;
};

/// A host that is none of the run's yet need not be there.
Finding of_spare(Finding found) {
  found.wrong += " (it is a spare, and need not answer yet)";
  found.hint = true;
  return found;
}

/// Why there is no word of ours.
Finding no_answer(const ClusterFile& file, const HostSection& host, const HostFacts& facts,
                  const ShellQuestion& question, const ShellAnswer& answer) {
  if (!answer.exit) {
    return {host.name, "ssh",
            fmt::format("it did not answer within {} (deadlines.host)",
                        duration_text(file.deadlines.host)),
            fmt::format("see what takes so long: ssh -v {} true", host.ssh)};
  }
  if (!facts.noise.empty() && answer.errors.empty()) {
    return {host.name, "shell", fmt::format("its login shell says \"{}\" and ends", facts.noise),
            fmt::format("let it run commands: ssh {} true must work", host.ssh)};
  }
  return finding_of(host.name, "ssh", shell_trouble(question, answer));
}

}  // namespace

FactsQuestion facts_question(const ClusterFile& file, const HostSection& host,
                             const ShippedProgram& program) {
  FactsQuestion question;
  question.work = host.work;
  question.bundle_hash = program.hash;
  question.program = program.name;
  ask_about_gpus(file, host, question);
  question.bf16 = computes_in_bf16(file, host);
  question.cpu_flags = cpu_flags_wanted(file, host);
  question.data = data_wanted(file, host);
  question.data_folder = !host.data.empty() ? host.data : file.data.dir;
  question.shards = shards_on(file, host);
  question.init = init_wanted(file, host);
  question.any_shard = !has_reader(file, host);
  if (!file.talks_tcp()) return question;
  std::set<std::string> names;
  for (const HostSection& other : file.hosts) {
    if (!is_numeric(other.address)) names.insert(other.address);
  }
  if (!is_numeric(host.bind)) names.insert(host.bind);
  question.names.assign(names.begin(), names.end());
  return question;
}

bool answered(const ShellAnswer& answer) { return parse_host_facts(answer.output).complete; }

std::vector<Finding> check_host(const ClusterFile& file, const HostSection& host,
                                const ShippedProgram& program, const ShellQuestion& question,
                                const ShellAnswer& answer) {
  const HostFacts facts = parse_host_facts(answer.output);
  if (!facts.complete) {
    Finding found = no_answer(file, host, facts, question, answer);
    return {host.spare ? of_spare(std::move(found)) : std::move(found)};
  }
  return HostCheck(file, host, program, facts).run(answer);
}

Finding finding_of(const std::string& host, const std::string& check, std::string message) {
  if (message.starts_with(host + ": ")) message.erase(0, host.size() + 2);
  const std::size_t end = message.rfind("; ");
  if (end == std::string::npos) return {host, check, std::move(message), ""};
  return {host, check, message.substr(0, end), message.substr(end + 2)};
}

bool older_libc(const std::string& there, const std::string& built) {
  struct Version {
    int major = 0;
    int minor = 0;
    auto operator<=>(const Version&) const = default;
  };
  const auto parse = [](const std::string& text, Version& version) {
    return std::sscanf(text.c_str(), "glibc %d.%d", &version.major, &version.minor) == 2;  // NOLINT
  };
  Version a;
  Version b;
  return parse(there, a) && parse(built, b) && a < b;
}

}  // namespace sterna::launcher
