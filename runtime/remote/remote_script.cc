#include "runtime/remote/remote_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sterna {

namespace {

// $w: the work folder, $h: the bundle's hash, $p: the program, $k: how many bundles stay. An
// installed program of the same build is used as it is. The archive grows in $f; what is unpacked
// and verified takes its final name in one step. $d.lock says whose $d.part is, so that two
// launchers at once do no harm. A new bundle makes those go that nobody has used for longest and
// that no process here runs from.
constexpr std::string_view kScript =
    R"sh(umask 077; LC_ALL=C; export LC_ALL; case $w in "~/"*) w=$HOME/${w#??};; esac; )sh"
    R"sh(d=$w/bundles/$h; mkdir -p "$w/bundles" || { echo "STERNA broken cannot write $w"; exit 4; }; )sh"
    R"sh(b=$d/bin/$p; have=no; [ -x "$b" ] && have=yes && touch "$d"; )sh"
    R"sh(if [ $have = no ] && s=$(command -v "$p" 2>/dev/null) && )sh"
    R"sh([ "$("$s" __bundle-hash 2>/dev/null)" = "$h" ]; then b=$s; have=yes; fi; )sh"
    // One at a time goes on with what has arrived before; who comes meanwhile begins anew.
    R"sh(f=$d.part; u=$(uname -n); mkdir "$d.lock" 2>/dev/null || { q=; g=; )sh"
    R"sh(read -r q g 2>/dev/null < "$d.lock/owner"; )sh"
    R"sh([ "$g" = "$u" ] && ! kill -0 "$q" 2>/dev/null || f=$d.part.$u.$$; }; )sh"
    R"sh([ "$f" = "$d.part" ] && echo "$$ $u" > "$d.lock/owner"; )sh"
    R"sh(n=0; [ -f "$f" ] && n=$(($(wc -c < "$f"))); )sh"
    R"sh(set -- $(df -Pk "$w" 2>/dev/null | tail -n 1); )sh"
    R"sh(echo "STERNA host have=$have part=$n free=${4:-0} arch=$(uname -m) )sh"
    R"sh(libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | tr " " _) home=$HOME"; )sh"
    R"sh(while read -r verb rest; do case $verb in )sh"
    R"sh(ship) head -c "$rest" >> "$f" || { echo "STERNA broken the disk of $w is full"; exit 4; };; )sh"
    R"sh(restart) rm -f "$f";; )sh"
    R"sh(unpack) t=$d.new$$; rm -rf "$t"; mkdir "$t"; )sh"
    R"sh(if { gzip -dc < "$f" | tar -xf - -C "$t" && [ "$("$t/bin/$p" __bundle-hash)" = "$h" ]; } )sh"
    R"sh(2> "$t.why"; then rm -f "$t.why"; [ -e "$d" ] || mv "$t" "$d"; touch "$d"; rm -rf "$t" "$f"; )sh"
    R"sh([ "$f" = "$d.part" ] && rm -rf "$d.lock"; )sh"
    R"sh(i=0; ls -t "$w/bundles" | while read -r o; do case $o in *.*) )sh"
    // What was interrupted may be gone on with for a week.
    R"sh([ -z "$(find "$w/bundles/$o" -prune -mtime +6)" ] || rm -rf "$w/bundles/$o"; continue;; esac; )sh"
    R"sh(i=$((i+1)); [ $i -gt $k ] || continue; for e in /proc/[0-9]*/exe; do )sh"
    R"sh(case $(readlink "$e" 2>/dev/null) in "$w/bundles/$o"/*) continue 2;; esac; done; )sh"
    R"sh(rm -rf "$w/bundles/$o"; done; echo "STERNA unpacked"; )sh"
    R"sh(else e=$(tail -n 1 "$t.why"); rm -rf "$t" "$t.why" "$f"; )sh"
    R"sh(echo "STERNA broken the bundle arrived damaged or does not run here${e:+: $e}"; exit 4; fi;; )sh"
    R"sh(run) set -- $rest; exec "$b" "$@";; esac; done; exit 5)sh";

template <class Number>
Number number(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The value of " key=" in a line, up to the next space.
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(fmt::format(" {}=", key));
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

std::string remote_script(const std::string& work, const std::string& hash,
                          const std::string& program) {
  // "~" must not be read by the shell: the script does that itself.
  return fmt::format("w=\"{}\"; h={}; p={}; k={}; {}", work, hash, program, kBundlesKept, kScript);
}

std::string as_ssh_command(const std::string& script) {
  return fmt::format("exec /bin/sh -c '{}'", script);
}

std::optional<RemoteFacts> parse_facts(std::string_view line) {
  if (!line.starts_with("STERNA host ")) return std::nullopt;
  constexpr std::uint64_t kKilo = 1024;
  RemoteFacts facts;
  facts.has_bundle = value_of(line, "have") == "yes";
  facts.part_bytes = number<std::uint64_t>(value_of(line, "part"));
  facts.free_bytes = number<std::uint64_t>(value_of(line, "free")) * kKilo;
  facts.arch = value_of(line, "arch");
  facts.libc = value_of(line, "libc");
  std::replace(facts.libc.begin(), facts.libc.end(), '_', ' ');
  const std::size_t home = line.find(" home=");
  if (home != std::string_view::npos) facts.home = line.substr(home + 6);
  return facts;
}

bool plain_for_shell(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_' || c == '~' ||
           c == '+' || c == ',' || c == '@';
  });
}

}  // namespace sterna
