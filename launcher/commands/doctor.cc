// sterna doctor FILE: looks for what would go wrong in a run before it is started. First over plain
// ssh with nothing but a shell; then the hosts probe each other through a small run of our own.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include "kernels/device/cuda_module.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/commands/file_arguments.h"
#include "launcher/doctor/checks.h"
#include "launcher/doctor/host_probe.h"
#include "launcher/doctor/report.h"
#include "launcher/hosts/bundle_archive.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/host_shell.h"
#include "launcher/run/run_data.h"
#include "launcher/run/run_init.h"
#include "launcher/text/text_format.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/remote/bundle.h"
#include "runtime/transport/numeric_address.h"

namespace sterna::launcher {
namespace {

/// As findings call the machine that the command is typed on.
constexpr const char* kHere = "(here)";

struct DoctorOptions {
  GivenFile given;
  std::string data;        ///< --data; empty: not given
  bool no_ship = false;    ///< only what a shell tells
  bool bandwidth = false;  ///< between the hosts, too
  bool json = false;
};

/// "1 host", "3 hosts over ssh", "3 hosts, 2 of them over ssh".
std::string hosts_in_words(const ClusterFile& file) {
  const std::size_t all = file.hosts.size();
  const auto remote = static_cast<std::size_t>(std::ranges::count_if(
      file.hosts, [&](const HostSection& host) { return is_remote(file, host); }));
  const std::string words = counted(all, "host");
  if (remote == all) return words + " over ssh";
  return remote == 0 ? words : words + fmt::format(", {} of them over ssh", remote);
}

class Doctor {
 public:
  Doctor(const DoctorOptions& options, const Context& context, ClusterFile file)
      : options_(options),
        context_(context),
        file_(std::move(file)),
        interrupt_(machine_.loop(), SIGINT, [this] { interrupt(); }),
        terminate_(machine_.loop(), SIGTERM, [this] { interrupt(); }) {
    report_.file = options.given.file;
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
    look_for_module();
    look_up_names();
    if (!has_remote_hosts(file_)) return;
    context_.console.say("getting ready what would be put on the hosts");
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

  /// What computes on GPUs lies beside the program, here and where it is shipped to.
  void look_for_module() {
    const std::filesystem::path self("/proc/self/exe");
    std::error_code failed;
    const auto program = std::filesystem::read_symlink(self, failed);
    program_.has_module =
        std::filesystem::exists(program.parent_path() / kernels::kCudaModule, failed);
    const Result<std::filesystem::path> bundle = own_bundle(self);
    program_.ships_module =
        bundle && std::filesystem::exists(*bundle / "bin" / kernels::kCudaModule, failed);
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
    context_.console.say("looking at " + hosts_in_words(file_));
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
    how.console = context_.console;
    how.file = file_;
    for (HostSection& host : how.file.hosts) host.spare = false;  // it may be wanted any time
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
    HostProbe probe(machine_, context_.registry, std::move(how), report_);
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
  const Context& context_;
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

/// As `sterna run --data` would have it: on the machine that the run is started on.
void look_for_data_in(const std::string& folder, ClusterFile& file) {
  if (folder.empty()) return;
  const HostSection* head = head_of(file);
  const std::string there =
      head_is_remote(file) ? folder : std::filesystem::absolute(folder).string();
  for (HostSection& host : file.hosts) {
    const bool looks_there = &host == head || !is_remote(file, host);
    if (looks_there && host.data.empty()) host.data = there;
  }
}

int doctor(const DoctorOptions& options, const Context& context) {
  const Console& console = context.console;
  Result<ClusterFile> file = read_cluster_file(options.given.file, options.given.overrides);
  if (!file) return console.report(file.error());
  if (!file->placed()) {
    console.say(
        fmt::format("{}: its hosts are not known before its allocation is there; `sterna doctor` "
                    "looks at the [[host]] tables of a file",
                    options.given.file));
    return kExitBadInput;
  }
  if (const auto right = check_data_flag(options.data, *file); !right) {
    return console.report(right.error());
  }
  look_for_data_in(options.data, *file);
  *file = with_absolute_init(*file, console);
  const DoctorReport found = Doctor(options, context, std::move(file).value()).run();
  const std::string text = options.json ? doctor_json(found) + "\n" : doctor_text(found);
  if (console.print_result(text) == Printed::failed) return kExitFailed;
  if (found.interrupted) return kExitInterrupted;
  return found.well() ? kExitDone : kExitFailed;
}

}  // namespace

Command doctor_command() {
  const auto o = std::make_shared<DoctorOptions>();
  return {"doctor", "Look for what would go wrong on a file's hosts",
          with_file(
              o->given,
              {{"--data", &o->data, "The folder of the data set, as `sterna run` takes it", "DIR"},
               {"--no-ship", &o->no_ship,
                "Only what a shell can tell: put nothing on the hosts, start nothing there"},
               {"--bandwidth", &o->bandwidth, "Measure how fast the hosts send to each other, too"},
               {"--json", &o->json, "Print what was found as one line of JSON"}}),
          [o](const Context& context) { return doctor(*o, context); }};
}

}  // namespace sterna::launcher
