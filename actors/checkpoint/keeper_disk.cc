// What the keeper changes on disk when a checkpoint is there, or has been measured: nothing of it
// holds up its thread, which is the launcher's.
#include <filesystem>
#include <utility>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/checkpoint/keeper.h"
#include "actors/checkpoint/state_part.h"

namespace sterna::actors {

Result<void> note_precision(const std::string& folder, std::uint64_t version,
                            const MeasuredPrecision& precision) {
  const std::string path = (std::filesystem::path(folder) / checkpoint_name(version)).string();
  Result<Manifest> manifest = read_manifest(path);
  if (!manifest) return {};
  manifest->precision = precision;
  return write_manifest(path, *manifest);
}

Task<Result<void>> CheckpointKeeper::on_disk(std::function<Result<void>()> work) {
  const std::uint64_t turn = disk_turns_++;
  setup_.record->writes = true;
  while (turn != disk_turn_) co_await disk_free_.wait();
  auto working = compute(std::move(work));
  Result<void> done = co_await working;
  ++disk_turn_;
  setup_.record->writes = disk_turn_ != disk_turns_;
  disk_free_.notify_all();
  co_return done;
}

Task<void> CheckpointKeeper::remove(std::uint64_t version) {
  Task<Result<void>> removing = on_disk([folder = folder_of(version)]() -> Result<void> {
    remove_checkpoint(folder);
    return {};
  });
  (void)co_await removing;
}

Task<void> CheckpointKeeper::remove_old() {
  const CheckpointSection& how = setup_.job.checkpoint;
  KeptCheckpoints kept{.made = setup_.record->last, .keep = how.keep, .best = how.best};
  if (setup_.shared) kept.run = setup_.run;
  if (copying_) kept.copied = copying_->manifest.step;
  // They are measured in their order. By time it is any version, and seldom one that is kept.
  const bool awaits = how.best && setup_.is_evaluated && setup_.job.evaluation.every_seconds == 0;
  auto one = awaits ? made_.upper_bound(precisions_.empty() ? 0 : precisions_.rbegin()->first)
                    : made_.end();
  for (; one != made_.end(); ++one) {
    if (setup_.job.evaluates(*one)) kept.awaited.insert(*one);
  }
  Task<Result<void>> removing = on_disk([folder = setup_.folder, kept]() -> Result<void> {
    remove_old_checkpoints(folder, kept);
    return {};
  });
  (void)co_await removing;
}

void CheckpointKeeper::measured(std::uint64_t version, const MeasuredPrecision& precision) {
  precisions_[version] = precision;
  if (made_.contains(version)) run(note(version, precision));
  if (setup_.job.checkpoint.best && setup_.record->last > 0) run(remove_old());
}

Task<void> CheckpointKeeper::note(std::uint64_t version, MeasuredPrecision precision) {
  Task<Result<void>> noting = on_disk([folder = setup_.folder, version, precision] {
    return note_precision(folder, version, precision);
  });
  if (const Result<void> noted = co_await noting; !noted) log(noted.error().message);
}

}  // namespace sterna::actors
