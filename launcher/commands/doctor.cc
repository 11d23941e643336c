// sterna doctor FILE: looks for what would go wrong in a run before it is started. First over plain
// ssh with nothing but a shell; then the hosts probe each other through a small run of our own.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/commands/commands.h"
#include "launcher/doctor/checks.h"
#include "launcher/doctor/host_probe.h"
#include "launcher/doctor/report.h"
#include "launcher/hosts/bundle_archive.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/host_shell.h"
#include "launcher/text/console.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/transport/numeric_address.h"

namespace sterna::launcher {
namespace {

/// As findings call the machine that the command is typed on.
constexpr const char* kHere = "(here)";

class Doctor {
 public:
  Doctor(const DoctorOptions& options, const Registry& registry, ClusterFile file)
      : options_(options),
        registry_(registry),
        file_(std::move(file)),
        interrupt_(machine_.loop(), SIGINT, [this] { interrupt(); }),
        terminate_(machine_.loop(), SIGTERM, [this] { interrupt(); }) {
    report_.file = options.file;
    for (const HostSection& host : file_.hosts) report_.hosts.push_back(host.name);
  }

  DoctorReport run() && {
    look_here();
    look_at_hosts();
    report_.probed = "the hosts did not probe each other";
    if (!interrupted_ && !options_.no_ship) let_them_probe();
    report_.interrupted = interrupted_;
    return std::move(report_);
  }

 private:
  void look_here() {
    utsname system{};
    ::uname(&system);
    program_.arch = system.machine;
    program_.libc = std::string("glibc ") + ::gnu_get_libc_version();
    look_up_names();
    if (!has_remote_hosts(file_)) return;
    say("getting ready what would be put on the hosts");
    Result<RemoteBundle> bundle = archived_bundle(file_.program.path);
    if (!bundle) {
      report_.findings.push_back(finding_of(kHere, "program", bundle.error().message));
      cannot_ship_ = true;
      return;
    }
    bundle_ = std::move(bundle).value();
    program_.hash = bundle_.hash;
    program_.name = bundle_.program;
    std::error_code ignored;
    program_.archive_bytes = std::filesystem::file_size(bundle_.archive, ignored);
  }

  /// Where the coordinator is here, this machine talks to all hosts.
  void look_up_names() {
    if (!file_.talks_tcp() || head_is_remote(file_)) return;
    for (const HostSection& host : file_.hosts) {
      const Result<std::string> address = numeric_address(host.address);
      if (address) continue;
      report_.findings.push_back(
          {kHere, "names", fmt::format("nobody knows the address {}", host.address),
           fmt::format("add it to /etc/hosts, or correct host.address of {}", host.name)});
    }
  }

  void look_at_hosts() {
    say(fmt::format("looking at {} host{} over ssh", file_.hosts.size(),
                    file_.hosts.size() == 1 ? "" : "s"));
    std::vector<ShellQuestion> questions;
    for (const HostSection& host : file_.hosts) {
      questions.push_back({host.name, is_remote(file_, host) ? host.ssh : "",
                           facts_script(facts_question(file_, host, program_))});
    }
    const std::vector<ShellAnswer> answers =
        ask_shells(machine_, questions, file_.deadlines.host, [this] { return interrupted_; });
    if (interrupted_) return;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::vector<Finding> found =
          check_host(file_, file_.hosts[i], program_, questions[i], answers[i]);
      report_.findings.insert(report_.findings.end(), found.begin(), found.end());
    }
  }

  /// With those hosts on which the program can be expected to start.
  void let_them_probe() {
    if (!file_.talks_tcp()) {
      report_.probed = "nothing goes over a network";
      return;
    }
    HostProbeOptions how;
    how.file = file_;
    how.bandwidth = options_.bandwidth;
    std::erase_if(how.file.hosts, [this](const HostSection& host) { return cannot_start(host); });
    if (how.file.hosts.empty() || cannot_ship_) return;
    if (has_remote_hosts(file_)) {
      // Another program has no actors of ours.
      Result<RemoteBundle> bundle = file_.program.path.empty() ? bundle_ : archived_bundle("");
      if (!bundle) {
        report_.findings.push_back(finding_of(kHere, "program", bundle.error().message));
        return;
      }
      how.bundle = std::move(bundle).value();
    }
    HostProbe probe(machine_, registry_, std::move(how), report_);
    probe_ = &probe;
    probe.run();
    probe_ = nullptr;
  }

  bool cannot_start(const HostSection& host) const {
    return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Finding& found) {
      constexpr std::array kFatal = {"ssh", "arch", "libc", "work", "disk", "bind"};
      return found.host == host.name &&
             std::find(kFatal.begin(), kFatal.end(), found.check) != kFatal.end();
    });
  }

  void interrupt() {
    interrupted_ = true;
    if (probe_ != nullptr) probe_->interrupt();
  }

  const DoctorOptions& options_;
  const Registry& registry_;
  const ClusterFile file_;
  RealMachine machine_;
  bool interrupted_ = false;
  bool cannot_ship_ = false;
  HostProbe* probe_ = nullptr;  ///< while it runs
  SignalWatch interrupt_;
  SignalWatch terminate_;
  ShippedProgram program_;
  RemoteBundle bundle_;
  DoctorReport report_;
};

}  // namespace

int doctor_command(const DoctorOptions& options, const Registry& registry) {
  Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  if (!file->placed()) {
    say(
        fmt::format("{}: its hosts are not known before its allocation is there; `sterna doctor` "
                    "looks at the [[host]] tables of a file",
                    options.file));
    return exit_bad_input;
  }
  const DoctorReport found = Doctor(options, registry, std::move(file).value()).run();
  const std::string text = options.json ? doctor_json(found) + "\n" : doctor_text(found);
  if (!print_result(text)) return exit_failed;
  if (found.interrupted) return exit_interrupted;
  return found.well() ? exit_done : exit_failed;
}

}  // namespace sterna::launcher
