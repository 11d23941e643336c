#include "launcher/doctor/facts.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include "input/digits/digits.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "launcher/doctor/gpu_script.h"
#include "launcher/text/shell_word.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kMark = "STERNA ";

// All that it says are lines "STERNA WORD VALUE". $w: the work folder, $h: the bundle's hash.
constexpr std::string_view kBasics = R"sh(
echo "STERNA ready"; read -r go
echo "STERNA clock $(date +%s.%N)"
echo "STERNA arch $(uname -m)"
echo "STERNA libc $(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
echo "STERNA memory $(sed -n "s/^MemAvailable: *\([0-9]*\).*/\1/p" /proc/meminfo)"
case $w in "~/"*) w=$HOME/${w#??};; esac
e=$({ mkdir -p "$w" && : > "$w/.doctor.$$" && rm -f "$w/.doctor.$$"; } 2>&1) &&
  echo "STERNA work" || echo "STERNA unwritable $e"
d=$w; while [ ! -d "$d" ] && [ "$d" != / ] && [ "$d" != . ]; do d=$(dirname "$d"); done
set -- $(df -Pk "$d" 2>/dev/null | tail -n 1); echo "STERNA disk ${4:-}"
[ -x "$w/bundles/$h/bin/$p" ] && echo "STERNA bundle"
sed -n "/|--/h;/host LOCAL/{g;s/.*|-- /STERNA address /p;}" /proc/net/fib_trie 2>/dev/null
sed "s/ .*//;s/^/STERNA address6 /" /proc/net/if_inet6 2>/dev/null
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep " 0A " |
  sed "s/^ *[0-9]*: \([0-9A-F:]*\) .*/STERNA listens \1/"
if [ -d /run/systemd/system ] && [ "$(id -u)" != 0 ]; then
  k=$(busctl get-property org.freedesktop.login1 /org/freedesktop/login1 \
    org.freedesktop.login1.Manager KillUserProcesses 2>/dev/null)
  [ -n "$k" ] || k=$(cat /etc/systemd/logind.conf /etc/systemd/logind.conf.d/*.conf 2>/dev/null |
    sed -n "s/^KillUserProcesses=//p" | tail -n 1)
  echo "STERNA kills $k"
  echo "STERNA $(loginctl show-user "$(id -un)" -p Linger 2>/dev/null)"
fi
)sh";

constexpr std::string_view kBf16 = R"sh(
if [ -r /proc/cpuinfo ]; then
  if ! grep -qw avx512_bf16 /proc/cpuinfo; then echo "STERNA bf16 no"
  elif grep -qw GenuineIntel /proc/cpuinfo && ! grep -qw amx_bf16 /proc/cpuinfo
  then echo "STERNA bf16 slow"
  else echo "STERNA bf16 yes"; fi
fi
)sh";

constexpr std::string_view kCpuFlags = R"sh(
if [ -r /proc/cpuinfo ]; then
  for f in {}; do grep -qw $f /proc/cpuinfo || echo "STERNA without $f"; done
fi
)sh";

// $f: the files, as patterns, of "a|b" one, $x: the folder that the file names, $m: marks digits
// that were drawn, $l: marks a shard, $s: the shards that will do if all are there, $any: whether
// any one will.
constexpr std::string_view kData = R"sh(
case $x in "~/"*) x=$HOME/${x#??};; esac
if [ -n "$x" ]; then set -- "$x"
else c=${XDG_CACHE_HOME:-$HOME/.cache}/sterna; set -- "${STERNA_DATA:-$c}" "$c"; fi
look() {
  lacks=; set -f; for file in $f; do
    there=; for name in $(echo "$file" | tr "|" " "); do
      set +f; for one in "$1"/$name "$1"/$name.gz; do [ -r "$one" ] && there=yes; done; set -f
    done
    [ -n "$there" ] || lacks="$lacks $file"
  done; set +f
}
found() { [ -e "$1/$m" ] && echo "STERNA drawn"; echo "STERNA data $1"; }
best=; for place; do for sub in "" $d; do at=$place${sub:+/$sub}
  if [ -n "$a" ]; then for file in "$at"/data_batch_1.bin "$at"/train.bin "$at"/*train*; do
    case $file in *train-images-idx*|*train-labels-idx*) continue;; esac
    if [ -e "$file" ]; then found "$at"; break 3; fi
  done; fi
  all=$s; for shard in $s; do look "$at/$shard"; [ -z "$lacks" ] || all=; done
  if [ -n "$all" ]; then found "$at/$shard"; break 2; fi
  look "$at"; missing=$lacks
  if [ -z "$missing" ]; then
    [ -r "$at/$l" ] && echo "STERNA shard $(sed -n "s/^index //p" "$at/$l")" \
      "$(sed -n "s/^shards //p" "$at/$l")"
    found "$at"; break 2
  fi
  if [ -n "$any" ]; then for shard in "$at"/shard-*; do
    look "$shard"; if [ -z "$lacks" ]; then found "$shard"; break 3; fi
  done; fi
  [ -n "$best" ] && [ ${#missing} -ge ${#best} ] || { best=$missing; folder=$at; }
done; done
[ -d "$1" ] || { folder=$1; best=" there is no such folder"; }
echo "STERNA lacks $folder:$best"
)sh";

// $i: the weights, $x: the folder of data that may hold them, too (actors/weights), or a folder in
// it; where none is named, a run on this machine finds one.
constexpr std::string_view kInit = R"sh(
case $i in "~/"*) i=$HOME/${i#??};; esac
case $x in "~/"*) x=$HOME/${x#??};; esac
c=${XDG_CACHE_HOME:-$HOME/.cache}/sterna
if [ -n "$x" ]; then set -- "$x"; else set -- "${STERNA_DATA:-$c}" "$c"; fi
no=yes; for file in "$i" "$i.index"; do [ -r "$file" ] && no=; done
for place; do for file in "$place/${i##*/}" "$place"/*/"${i##*/}"; do
  for one in "$file" "$file.index"; do [ -r "$one" ] && no=; done
done; done; [ -z "$no" ] || echo "STERNA no-init"
)sh";

constexpr std::string_view kNames = R"sh(
if command -v getent >/dev/null; then for n in $names; do
  echo "STERNA name $n"
  getent ahosts "$n" | while read -r at rest; do echo "STERNA name $n $at"; done
done; fi
)sh";

std::string_view first_word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> kilobytes(std::string_view text) {
  const auto value = number<std::uint64_t>(text);
  if (!value) return std::nullopt;
  return *value * 1024;
}

void add_new(std::vector<std::string>& list, std::string_view text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.emplace_back(text);
}

std::string address_text(int family, const void* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, bytes, text.data(), text.size());
  return text.data();
}

/// "1 OK X OK": how card 1 reads of each. The header, "0 GPU1 GPU2", is none.
void take_peers(HostFacts& facts, std::string_view value) {
  const auto card = number<std::size_t>(first_word(value));
  if (!card) return;
  std::vector<std::string> cells;
  while (!value.empty()) {
    const std::size_t begin = value.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    value.remove_prefix(begin);
    const std::size_t end = std::min(value.find_first_of(" \t"), value.size());
    if (value.starts_with("GPU")) return;
    cells.emplace_back(value.substr(0, end));
    value.remove_prefix(end);
  }
  facts.peers[*card] = std::move(cells);
}

void take(HostFacts& facts, std::string_view word, std::string_view value) {
  if (word == "clock") {
    facts.clock = parse_clock(value, facts.clock_has_fraction);
  } else if (word == "arch") {
    facts.arch = value;
  } else if (word == "libc") {
    facts.libc = value;
  } else if (word == "memory") {
    facts.memory_free = kilobytes(value);
  } else if (word == "work") {
    facts.work_writable = true;
  } else if (word == "unwritable") {
    facts.work_error = value;
  } else if (word == "disk") {
    facts.disk_free = kilobytes(value);
  } else if (word == "bundle") {
    facts.has_bundle = true;
  } else if (word == "address") {
    add_new(facts.addresses, value);
  } else if (word == "address6") {
    if (const auto address = parse_inet6(value)) add_new(facts.addresses, *address);
  } else if (word == "listens") {
    if (const auto socket = parse_socket(value)) facts.listening.push_back(*socket);
  } else if (word == "kills") {
    facts.kills_processes = value == "b true" || value == "yes" || value == "true" || value == "1";
  } else if (word == "Linger=yes" || word == "Linger=no") {
    facts.lingers = word == "Linger=yes";
  } else if (word == "gpus") {
    facts.gpus = number<std::int64_t>(value);
  } else if (word == "driver") {
    facts.driver = value;
  } else if (word == "capability") {
    facts.capability = value;
  } else if (word == "misses") {
    const std::string_view library = first_word(value);
    facts.missing_libraries[std::string(library)] = value;
  } else if (word == "peers") {
    take_peers(facts, value);
  } else if (word == "mps") {
    facts.mps = value == "yes";
  } else if (word == "bf16") {
    facts.bf16 = value != "no";
    facts.slow_bf16 = value == "slow";
  } else if (word == "without") {
    facts.missing_cpu_flags.emplace_back(value);
  } else if (word == "data") {
    facts.data_found = value;
  } else if (word == "shard") {
    const auto index = number<std::uint32_t>(first_word(value));
    const auto shards = number<std::uint32_t>(value);
    if (index && shards) facts.data_shard = input::folder_name({*index, *shards});
  } else if (word == "no-init") {
    facts.init_missing = true;
  } else if (word == "drawn") {
    facts.data_is_drawn = true;
  } else if (word == "lacks") {
    if (facts.data_found.empty()) facts.data_missing = value;
  } else if (word == "name") {
    const std::string_view name = first_word(value);
    std::vector<std::string>& found = facts.names[std::string(name)];
    if (!value.empty()) add_new(found, value);
  } else if (word == "done") {
    facts.complete = true;
  }
}

/// Patterns for what a folder of this format has.
std::string files_of(const input::Format& format) {
  if (format.files == nullptr) return format.signs == nullptr ? "" : format.signs;
  std::vector<std::string> files = format.files(input::Split::train);
  for (const std::string& file : format.files(input::Split::test)) files.push_back(file);
  return fmt::format("{}", fmt::join(files, " "));
}

}  // namespace

std::string facts_script(const FactsQuestion& question) {
  std::string script = fmt::format(
      "umask 077; LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/sbin:/sbin\nw={}; h={}; p={}",
      shell_word(question.work), shell_word(question.bundle_hash), shell_word(question.program));
  script += kBasics;
  if (question.gpus) script += gpus_script();
  if (question.cuda) script += driver_script();
  if (!question.libraries.empty()) {
    script += libraries_script(question.libraries, question.environment);
  }
  if (question.peers) script += peers_script();
  if (question.mps) script += mps_script();
  if (question.bf16) script += kBf16;
  if (!question.cpu_flags.empty()) {
    script += fmt::format(kCpuFlags, fmt::join(question.cpu_flags, " "));
  }
  if (!question.init.empty()) {
    script +=
        fmt::format("i={}; x={}", shell_word(question.init), shell_word(question.data_folder));
    script += kInit;
  }
  if (!question.names.empty()) {
    script += "names='";
    // Names of the file are checked by nobody before; what is none is not asked for.
    for (const std::string& name : question.names) {
      const bool plain = name.find_first_of("'\n \t*?[") == std::string::npos;
      if (plain) script += name + " ";
    }
    script += "'";
    script += kNames;
  }
  // Any data set: the usual one's files, or something that another one has.
  const bool any = question.data == input::kAnyDataSet;
  const input::DataSet& usual = input::usual_data_set();
  const input::DataSet* set = any ? &usual : input::find_data_set(question.data);
  if (set != nullptr) {
    // Digits have MNIST's form, and stand for it.
    const std::string folders =
        set == &usual ? fmt::format("{}", fmt::join(names_in_form_of(usual), " ")) : question.data;
    script += fmt::format("f='{}'; d='{}'; a={}; m={}; l={}; s='{}'; any={}; x={}",
                          files_of(*set->format), folders, any ? "yes" : "", input::kDrawnMarker,
                          input::kShardFile, fmt::join(question.shards, " "),
                          question.any_shard ? "yes" : "", shell_word(question.data_folder));
    script += kData;
  }
  return script + "\necho \"STERNA done\"";
}

HostFacts parse_host_facts(std::string_view output) {
  HostFacts facts;
  bool ours = false;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    // A login shell that prints without a line end comes before our word.
    const std::size_t mark = line.find(kMark);
    const std::string_view noise = line.substr(0, ours ? 0 : mark);
    if (facts.noise.empty()) facts.noise = noise.substr(0, noise.find_last_not_of(" \r\t") + 1);
    if (mark == std::string_view::npos) continue;
    ours = true;
    line.remove_prefix(mark + kMark.size());
    const std::string_view word = first_word(line);
    take(facts, word, line);
  }
  return facts;
}

std::optional<Listening> parse_socket(std::string_view text) {
  constexpr std::size_t kFour = 8;  // hexadecimal digits
  const std::size_t colon = text.find(':');
  if (colon != kFour && colon != 4 * kFour) return std::nullopt;
  const auto port = number<std::uint16_t>(text.substr(colon + 1), 16);
  if (!port) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < colon / kFour; ++i) {
    const auto word = number<std::uint32_t>(text.substr(i * kFour, kFour), 16);
    if (!word) return std::nullopt;
    words[i] = *word;
  }
  return Listening{address_text(colon == kFour ? AF_INET : AF_INET6, words.data()), *port};
}

std::optional<std::string> parse_inet6(std::string_view text) {
  std::array<std::uint8_t, 16> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = number<std::uint8_t>(text.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    bytes[i] = *byte;
  }
  return address_text(AF_INET6, bytes.data());
}

std::optional<double> parse_clock(std::string_view text, bool& has_fraction) {
  const std::size_t dot = text.find('.');
  const auto seconds = number<std::int64_t>(text.substr(0, dot));
  if (!seconds) return std::nullopt;
  constexpr std::size_t kNanoDigits = 9;
  const std::string_view digits =
      dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  const auto nanoseconds = number<std::uint32_t>(digits);
  has_fraction = digits.size() == kNanoDigits && nanoseconds;
  constexpr double kNano = 1e-9;
  return static_cast<double>(*seconds) + (has_fraction ? *nanoseconds * kNano : 0);
}

}  // namespace sterna::launcher
