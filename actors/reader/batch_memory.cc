#include "actors/reader/batch_memory.h"

#include <mutex>
#include <utility>

namespace sterna::actors {

/// Closed when the memory ends, while the loop that it posts to is still there.
class BatchMemory::Way {
 public:
  Way(Poster poster, std::map<std::uint64_t, ByteWindow::Share>& lent)
      : poster_(std::move(poster)), lent_(&lent) {}
  void close() {
    const std::lock_guard lock(mutex_);
    lent_ = nullptr;
  }
  void let_go(std::uint64_t which) {
    const std::lock_guard lock(mutex_);
    if (lent_ != nullptr) poster_.post([lent = lent_, which] { lent->erase(which); });
  }

 private:
  std::mutex mutex_;
  Poster poster_;
  std::map<std::uint64_t, ByteWindow::Share>* lent_;
};

BatchMemory::BatchMemory(const Poster& poster, std::uint64_t most)
    : window_(poster, most), back_(std::make_shared<Way>(poster, lent_)) {}

BatchMemory::~BatchMemory() { back_->close(); }

Batch BatchMemory::lend(Batch batch, ByteWindow::Share share) {
  const std::uint64_t which = next_++;
  lent_.emplace(which, std::move(share));
  const std::shared_ptr<const void> loan(
      nullptr, [back = back_, which](const void*) { back->let_go(which); });
  using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  for (Bytes Batch::*column : {&Batch::pixels, &Batch::levels, &Batch::labels}) {
    const Bytes& bytes = batch.*column;
    // The bytes go first, so that what is given back is free.
    batch.*column = bytes.kept_by(std::make_shared<Owners>(loan, bytes.owner()));
  }
  return batch;
}

}  // namespace sterna::actors
