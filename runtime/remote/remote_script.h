// What a remote host's shell is asked to do before the program runs there: say what is there, take
// the bundle in, start. POSIX shell, no packages, one line without single quotes: it is an argument
// to whatever login shell the user has.
//
// It speaks in lines that begin with "STERNA "; whatever else a login shell prints is noise.
//
//   it says      STERNA host have=yes|no part=BYTES free=KILOBYTES arch=... libc=... home=...
//   it is told   ship BYTES      (then so many bytes of the archive, from `part` on)
//                unpack          says STERNA unpacked, or STERNA broken WHY
//                run ARGUMENTS   becomes the program; what follows is its standard input
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sterna {

/// A host's work folder holds so many bundles, and those that its processes run from.
inline constexpr int kBundlesKept = 5;

struct RemoteFacts {
  bool has_bundle = false;
  std::uint64_t part_bytes = 0;  ///< of the archive, from an earlier attempt
  std::uint64_t free_bytes = 0;  ///< where the bundle goes
  std::string arch;              ///< as `uname -m` says
  std::string libc;              ///< "glibc 2.36", or empty
  std::string home;
};

/// `work`, `hash` and `program` hold no quotes, spaces or anything else that a shell would read.
std::string remote_script(const std::string& work, const std::string& hash,
                          const std::string& program);
/// The script as one argument for ssh, which hands it to the login shell.
std::string as_ssh_command(const std::string& script);
/// Of a line that the script said; none if it is another.
std::optional<RemoteFacts> parse_facts(std::string_view line);
/// Whether text can stand in the script as it is.
bool plain_for_shell(std::string_view text);

}  // namespace sterna
