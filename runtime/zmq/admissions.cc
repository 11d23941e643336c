#include "runtime/zmq/admissions.h"

#include <zmq.h>

#include <array>
#include <charconv>

#include "runtime/zmq/curve_keys.h"

namespace sterna {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kZ85Characters = 40;

std::string decode_key(const std::string& z85) {
  std::array<std::uint8_t, kKeyBytes> raw{};
  if (z85.size() != kZ85Characters || zmq_z85_decode(raw.data(), z85.c_str()) == nullptr) return {};
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

Error denied(std::string why) { return {Errc::permission, std::move(why)}; }

}  // namespace

Result<PeerIdentity> parse_identity(std::string_view text) {
  const std::size_t mark = text.rfind('#');
  PeerIdentity identity;
  if (mark != std::string_view::npos && mark > 0) {
    const char* end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data() + mark + 1, end, identity.incarnation);
    if (failure == std::errc{} && rest == end) {
      identity.name = text.substr(0, mark);
      // One spelling per identity: "a#01" is nobody.
      if (identity.text() == text) return identity;
    }
  }
  return Error{Errc::malformed, "not of the form name#incarnation"};
}

bool Admissions::admit(const Contact& peer) {
  Entry& entry = by_name_[peer.identity.name];
  if (peer.identity.incarnation < entry.incarnation) return false;
  name_by_key_.erase(entry.key);
  entry = {peer.identity.incarnation, true, decode_key(peer.public_key), peer.token_hash};
  if (!entry.key.empty()) name_by_key_[entry.key] = peer.identity.name;
  return true;
}

void Admissions::revoke(const PeerIdentity& peer) {
  const auto found = by_name_.find(peer.name);
  if (found == by_name_.end() || found->second.incarnation != peer.incarnation) return;
  name_by_key_.erase(found->second.key);
  found->second = {peer.incarnation, false, {}, {}};
}

bool Admissions::admitted(const PeerIdentity& peer) const {
  const auto found = by_name_.find(peer.name);
  return found != by_name_.end() && found->second.let_in &&
         found->second.incarnation == peer.incarnation;
}

Result<PeerIdentity> Admissions::by_key(std::string_view key) const {
  const auto found = name_by_key_.find(std::string(key));
  if (found == name_by_key_.end()) return denied("unknown public key");
  const auto entry = by_name_.find(found->second);
  return PeerIdentity{entry->first, entry->second.incarnation};
}

Result<PeerIdentity> Admissions::by_token(std::string_view user, std::string_view token) const {
  Result<PeerIdentity> claimed = parse_identity(user);
  if (!claimed) return denied(claimed.error().message);
  const auto found = by_name_.find(claimed->name);
  if (found == by_name_.end() || !found->second.let_in) return denied("unknown name");
  const Entry& entry = found->second;
  if (entry.incarnation != claimed->incarnation) {
    return denied("another incarnation is admitted: " + std::to_string(entry.incarnation));
  }
  if (entry.token_hash.empty() || !constant_time_equal(token_hash(token), entry.token_hash)) {
    return denied("wrong token");
  }
  return claimed;
}

}  // namespace sterna
