// What becomes of a message that cannot be sent at once, in one place: for want of credit, or of a
// connection. It waits behind those before it on its lane; what may be done once a window of bytes
// waits there is a matter of its kind, and of who could make it more and more.
//
// | kind              | beyond a window                | who hears of it                         |
// | ----------------- | ------------------------------ | --------------------------------------- |
// | TELL              | is refused                     | the log of the process that told        |
// | ASK               | is refused                     | the ask ends as overloaded              |
// | CANCEL            | is refused                     | that log; the handler goes on in vain   |
// | REPLY             | is refused                     | the asker: a FAILURE goes in its place  |
// | FAILURE           | its code alone waits, in order | nobody; the asker gets the code         |
// | Watch             | waits                          | nobody: only actors of ours make more   |
// | Down              | waits, up to four windows      | a peer that makes more of it is blamed  |
// | Hello, Heartbeat… | never waits: it is of now      | nobody                                  |
//
// A peer that asks and takes no answers has no more of their codes wait than asks can be under way
// (LinkOptions::most_owed); then it is blamed. What is refused is the sender's: Process::post_mail.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/link/link_messages.h"

namespace sterna::detail {

/// A peer of another window may grant more than we would, and what it watches may die while it
/// takes nothing; but not without a bound.
inline constexpr std::uint64_t kMostWindows = 4;

/// What a link says itself goes to local id 0 and needs no credit.
inline bool is_control(const Header& header) { return !header.target && header.kind == Kind::TELL; }

/// What is done with a message of its kind where a window of bytes waits already.
enum class WhenFull { refuse, owe_its_code, wait, wait_or_blame };

inline WhenFull when_full(const Header& header) {
  if (header.kind == Kind::FAILURE) return WhenFull::owe_its_code;
  if (!is_control(header)) return WhenFull::refuse;
  return header.type_id == type_id_of<Down>() ? WhenFull::wait_or_blame : WhenFull::wait;
}

/// A failure that found no room: what is left of it until it does.
struct Owed {
  LocalId source;
  std::uint64_t correlation = 0;
  Errc code = Errc::internal;
};

}  // namespace sterna::detail
