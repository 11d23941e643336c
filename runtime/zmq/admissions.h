// Admissions: which peers may connect, and as whom. What the ZAP handler asks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/base/result.h"
#include "runtime/transport/transport.h"

namespace sterna {

/// Reads "name#incarnation".
Result<PeerIdentity> parse_identity(std::string_view text);

/// At most one incarnation per name: the highest one ever admitted fences the lower ones.
class Admissions {
 public:
  /// False if a higher incarnation of that name is known already; then nothing changes.
  bool admit(const Contact& peer);
  /// Lets a higher incarnation in beside the one that is there, until it is admitted or fenced
  /// itself.
  void announce(const Contact& next);
  void revoke(const PeerIdentity& peer);
  bool admitted(const PeerIdentity& peer) const;

  /// Who the 32-byte CURVE key belongs to, or why the peer stays out.
  Result<PeerIdentity> by_key(std::string_view key) const;
  /// Who a user name ("name#incarnation") and token belong to, or why the peer stays out.
  Result<PeerIdentity> by_token(std::string_view user, std::string_view token) const;

 private:
  struct Entry {
    std::uint64_t incarnation = 0;
    bool let_in = false;  // not any more once revoked: only the incarnation is remembered
    std::string key;      // 32 bytes; empty without CURVE
    std::string token_hash;
  };
  static Entry entry_of(const Contact& peer);
  /// Null: it is not let in.
  const Entry* find(const PeerIdentity& peer) const;
  std::map<std::string, Entry, std::less<>> by_name_;
  std::multimap<std::string, Entry, std::less<>> announced_;
  std::unordered_map<std::string, PeerIdentity> by_key_;
};

}  // namespace sterna
