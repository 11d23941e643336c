// MemoryFile: memory that a node holds for an actor (memfd_create(2)). It has a size once the actor
// has asked for it, and goes with its last descriptor and mapping, however those end: nothing is
// left behind.
#pragma once

#include <memory>
#include <string>

#include "runtime/actor/kept_memory.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna {

class MemoryFile {
 public:
  /// For the actor `name`; empty, and closed for whatever this process starts but hands it to.
  static Result<MemoryFile> make(const std::string& name);
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  int descriptor() const { return descriptor_; }
  /// 0: nobody has asked for any yet.
  std::size_t size() const;
  /// Up to so many bytes from there; fewer at its end, none behind it.
  Result<Bytes> read(std::uint64_t offset, std::size_t most) const;
  /// The next piece of one that shall have `size` bytes, above 0. The first gives it that size, the
  /// last makes it one that a process can take. Errors: invalid_argument (it is not the next one),
  /// io, overloaded (the machine has not so much).
  Result<void> write(std::uint64_t offset, std::uint64_t size, ByteView bytes);

 private:
  explicit MemoryFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
  std::uint64_t written_ = 0;  ///< of the pieces that have come
};

/// What lies at `descriptor` in a process that was started with such a file, and is its own from
/// here on; null where that is none, or another's than `name`'s.
std::unique_ptr<KeptMemory> inherited_memory(int descriptor, const std::string& name);

}  // namespace sterna
