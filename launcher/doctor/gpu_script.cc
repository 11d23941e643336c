#include "launcher/doctor/gpu_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/device/library.h"
#include "launcher/text/shell_word.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kGpus = R"sh(
n=$(nvidia-smi -L 2>/dev/null | grep -c "^GPU")
[ "$n" != 0 ] || n=$(ls -d /proc/driver/nvidia/gpus/* 2>/dev/null | wc -l)
echo "STERNA gpus $((n))"
)sh";

constexpr std::string_view kDriver = R"sh(
v=$(cat /sys/module/nvidia/version 2>/dev/null) ||
  v=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
echo "STERNA driver $v"
c=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -n | head -n 1)
echo "STERNA capability $c"
)sh";

// $parts: of one library; the arguments are folders, "loader" stands for the one that the loader
// finds the first part in.
constexpr std::string_view kLook = R"sh(
look() {
  first=${parts%% *}; last=${parts##* }; has=
  for d; do
    [ "$d" != loader ] || d=$(ldconfig -p 2>/dev/null |
      sed -n "s|^[[:space:]]*$first (.*=> \(.*\)/[^/]*\$|\1|p" | head -n 1)
    [ -n "$d" ] && [ -e "$d/$first" ] || continue
    lacks=; for part in $parts; do [ -e "$d/$part" ] || lacks="$lacks $part"; done
    [ -n "$lacks" ] || return
    [ -n "$has" ] || has="$d lacks$lacks"
  done
  echo "STERNA misses $last $has"
}
python=$(command -v python3); real=$(readlink -f "$python" 2>/dev/null)
python=${python%/*}; real=${real%/*}
[ -n "$python" ] || python=/dev/null; [ -n "$real" ] || real=/dev/null
)sh";

// The first is its header, of which parse_host_facts() makes nothing.
constexpr std::string_view kPeers = R"sh(
nvidia-smi topo -p2p r 2>/dev/null |
  sed -n "s/^[[:space:]]*GPU\([0-9][0-9]*\)[[:space:]][[:space:]]*/STERNA peers \1 /p"
)sh";

constexpr std::string_view kMps = R"sh(
if ps -A -o comm= 2>/dev/null | grep -q "^nvidia-cuda-mps"; then echo "STERNA mps yes"
else echo "STERNA mps no"; fi
)sh";

}  // namespace

std::string_view gpus_script() { return kGpus; }
std::string_view driver_script() { return kDriver; }
std::string_view peers_script() { return kPeers; }
std::string_view mps_script() { return kMps; }

std::string libraries_script(const std::vector<std::vector<std::string>>& libraries,
                             const std::vector<std::string>& environment) {
  std::string script = "\n(";
  for (const std::string& variable : environment) {
    script += fmt::format("export {}\n", shell_word(variable));
  }
  script += kLook;
  // Lists with colons are divided, and then patterns become folders, whose names stay whole.
  script += fmt::format("set -f; IFS=:; set -- ${} $LD_LIBRARY_PATH; set +f; IFS=\n",
                        kernels::kLibraryFolders);
  // The toolkit's folder comes last but for pip's, as there.
  script += fmt::format("set -- \"$@\" loader {}", kernels::kToolkitLibraries);
  for (const char* prefix : kernels::kPythonPrefixes) {
    script += fmt::format(" {}{}", prefix, kernels::kWheelLibraries);
  }
  script += "\nunset IFS\n";
  for (const std::vector<std::string>& parts : libraries) {
    script += fmt::format("parts='{}'; look \"$@\"\n", fmt::join(parts, " "));
  }
  return script + ")\n";
}

}  // namespace sterna::launcher
