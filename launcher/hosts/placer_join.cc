// placer = "join": for each host a file in the run's folder says what its node agent is to be told,
// and whoever runs `sterna join` on it there starts it.
#include <fmt/format.h>

#include <filesystem>

#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "runtime/remote/join_placer.h"

namespace sterna::launcher {
namespace {

/// What a launcher that was killed left there. Whoever goes on in the run's directory has it alone,
/// so nobody waits for who may still bring such a file to its host.
void remove_files_of_before(const std::string& folder) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) std::filesystem::remove(entry->path(), ignored);
  }
}

class Joining final : public Placer {
 public:
  bool ships() const override { return false; }
  Result<std::unique_ptr<Spawner>> nodes(RealMachine& machine, const ClusterFile& file,
                                         const NodeStart& start) const override {
    JoinPlacerOptions options;
    options.folder = start.run_directory + "/join";
    remove_files_of_before(options.folder);
    for (const HostSection& host : file.hosts) {
      if (is_remote(file, host)) options.hosts.insert(host.name);
    }
    const std::string program =
        file.program.path.empty()
            ? ""
            : " --program " + std::filesystem::path(file.program.path).filename().string();
    options.written = [say = start.say, program](const std::string& host, const std::string& path) {
      say(fmt::format("waiting for {}: bring it the file {} and run there: sterna join FILE{}",
                      host, path, program));
    };
    return std::unique_ptr<Spawner>(
        std::make_unique<JoinPlacer>(machine.loop(), machine.spawner(), std::move(options)));
  }
};

}  // namespace

const Placer& join_placer() {
  static const Joining placer;
  return placer;
}

}  // namespace sterna::launcher
