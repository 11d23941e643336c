// Hosts to measure on, made of this machine: each is a network namespace, all hang on one bridge,
// and each cable is as slow as the user says, in both directions and at both of its ends.
//
// The namespaces have no names: the kernel takes them away with the last process in them, whatever
// way that ends. The bridge is in one of its own, so that no address of the machine is in the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/host/spawner.h"

namespace sterna::launcher {

/// "1gbit", "100mbit", "2.5gbit", in bits per second.
Result<std::uint64_t> parse_link_rate(std::string_view text);

/// What a network card has counted, headers included.
struct CardBytes {
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};

class EmulatedHosts {
 public:
  /// From here on the calling thread, and what it starts, is at the bridge; until this object's
  /// end. permission where this user may not make namespaces, not_found without the tools ip and
  /// tc.
  static Result<EmulatedHosts> make(std::size_t count, std::uint64_t bits_per_second);
  EmulatedHosts(EmulatedHosts&&) noexcept;
  EmulatedHosts& operator=(EmulatedHosts&&) = delete;
  ~EmulatedHosts();

  std::size_t count() const { return hosts_.size(); }
  static std::string name(std::size_t host);
  static std::string address(std::size_t host);
  /// Of the calling thread, at the bridge.
  static std::string own_address();
  static constexpr const char* kInterface = "eth0";  ///< a host's card

  /// The calling thread is on that host while this lives: so are its new sockets and processes.
  class Visit {
   public:
    Visit(const EmulatedHosts& hosts, std::size_t host);
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit();

   private:
    const EmulatedHosts& hosts_;
  };

  /// By the thread that made this.
  Result<std::vector<CardBytes>> card_bytes() const;

 private:
  class Namespace;
  EmulatedHosts();
  Result<void> build(std::size_t count, std::uint64_t bits_per_second);

  std::unique_ptr<Namespace> outside_;  ///< where the thread came from
  std::unique_ptr<Namespace> bridge_;
  std::vector<std::unique_ptr<Namespace>> hosts_;
};

/// Starts a node on the host of its name.
class EmulatedPlacer final : public Spawner {
 public:
  /// Both must outlive this.
  EmulatedPlacer(Spawner& local, const EmulatedHosts& hosts) : local_(local), hosts_(hosts) {}

  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override;
  void kill(std::int64_t pid) override { local_.kill(pid); }
  std::uint64_t resident_bytes(std::int64_t pid) const override {
    return local_.resident_bytes(pid);
  }

 private:
  Spawner& local_;
  const EmulatedHosts& hosts_;
};

}  // namespace sterna::launcher
