#include "runtime/zmq/admissions.h"

#include <zmq.h>

#include <array>
#include <charconv>
#include <iterator>

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

Admissions::Entry Admissions::entry_of(const Contact& peer) {
  return {peer.identity.incarnation, true, decode_key(peer.public_key), peer.token_hash};
}

bool Admissions::admit(const Contact& peer) {
  Entry& entry = by_name_[peer.identity.name];
  if (peer.identity.incarnation < entry.incarnation) return false;
  by_key_.erase(entry.key);
  for (auto [at, end] = announced_.equal_range(peer.identity.name); at != end;) {
    const bool over = at->second.incarnation <= peer.identity.incarnation;
    if (over) by_key_.erase(at->second.key);
    at = over ? announced_.erase(at) : std::next(at);
  }
  entry = entry_of(peer);
  if (!entry.key.empty()) by_key_[entry.key] = peer.identity;
  return true;
}

void Admissions::announce(const Contact& next) {
  const auto present = by_name_.find(next.identity.name);
  const bool known =
      present != by_name_.end() && next.identity.incarnation <= present->second.incarnation;
  if (known || find(next.identity) != nullptr) return;
  const auto entry = announced_.emplace(next.identity.name, entry_of(next));
  if (!entry->second.key.empty()) by_key_[entry->second.key] = next.identity;
}

void Admissions::revoke(const PeerIdentity& peer) {
  const auto found = by_name_.find(peer.name);
  if (found == by_name_.end() || found->second.incarnation != peer.incarnation) return;
  by_key_.erase(found->second.key);
  found->second = {peer.incarnation, false, {}, {}};
}

const Admissions::Entry* Admissions::find(const PeerIdentity& peer) const {
  const auto found = by_name_.find(peer.name);
  if (found != by_name_.end() && found->second.let_in &&
      found->second.incarnation == peer.incarnation) {
    return &found->second;
  }
  for (auto [at, end] = announced_.equal_range(peer.name); at != end; ++at) {
    if (at->second.incarnation == peer.incarnation) return &at->second;
  }
  return nullptr;
}

bool Admissions::admitted(const PeerIdentity& peer) const { return find(peer) != nullptr; }

Result<PeerIdentity> Admissions::by_key(std::string_view key) const {
  const auto found = by_key_.find(std::string(key));
  if (found == by_key_.end()) return denied("unknown public key");
  return found->second;
}

Result<PeerIdentity> Admissions::by_token(std::string_view user, std::string_view token) const {
  Result<PeerIdentity> claimed = parse_identity(user);
  if (!claimed) return denied(claimed.error().message);
  const Entry* entry = find(*claimed);
  if (entry == nullptr) {
    const auto found = by_name_.find(claimed->name);
    if (found == by_name_.end() || !found->second.let_in) return denied("unknown name");
    return denied("another incarnation is admitted: " + std::to_string(found->second.incarnation));
  }
  if (entry->token_hash.empty() || !constant_time_equal(token_hash(token), entry->token_hash)) {
    return denied("wrong token");
  }
  return claimed;
}

}  // namespace sterna
