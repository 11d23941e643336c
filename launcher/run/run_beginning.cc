#include "launcher/run/run_beginning.h"

#include <string>
#include <vector>

#include "launcher/hosts/mended_checkpoint.h"
#include "launcher/job/job_plan.h"
#include "launcher/job/resume.h"
#include "launcher/run/run_data.h"
#include "launcher/run/run_init.h"

namespace sterna::launcher {
namespace {

Result<RunBeginning> look_at_what_is_given(const WholeRunOptions& options) {
  const ClusterFile& given = options.file;
  const Console& console = options.console;
  RunBeginning found;
  STERNA_TRY(check_data_flag(options.data, given));
  // Digits may have to be drawn, and a disk to be read for them.
  STERNA_TRY(RunDirectory::check(directory_for(options, given)));
  STERNA_ASSIGN(found.data, needs_data_here(given)
                                ? find_run_data(options.data, given, console)
                                : Result<input::DataLocation>(data_elsewhere(given)));
  STERNA_ASSIGN(const ClusterFile counted, in_steps(given, found.data));
  found.file = with_absolute_init(counted, console);
  // What does not go together is bad input, of which nothing has to be started to hear.
  if (!found.file.trains()) return found;
  STERNA_ASSIGN(const actors::JobConfig job, job_of(found.file, found.data));
  const std::string hint = picture_size_hint(job);
  if (!hint.empty()) console.say(hint);
  return found;
}

/// Epochs end by the examples that were seen on the way to the checkpoint, which with other batches
/// or ranks are another number of steps.
Result<void> find_checkpoint(const WholeRunOptions& options, RunBeginning& found) {
  ClusterFile file = found.file;
  file.job.epochs = options.file.job.epochs;
  if (file.job.epochs > 0) file.job.steps = UINT64_MAX;
  while (true) {
    STERNA_ASSIGN(found.from, checkpoint_to_resume(file, options.run_dir));
    if (found.from == nullptr || file.job.epochs == 0) return {};
    STERNA_ASSIGN(const ClusterFile counted, in_steps(file, found.data, found.from.get()));
    found.file.job.steps = counted.job.steps;
    const std::uint64_t step = found.from->manifest.step;
    if (step < counted.job.steps) return {};
    file.job.steps = step;  // that one has nothing left, but perhaps one before
  }
}

Result<void> find_where_it_begins(RealMachine& machine, const WholeRunOptions& options,
                                  RunBeginning& found) {
  const ClusterFile& file = found.file;
  if (file.trains() && file.checkpoint.resume.given) {
    mend_newest(machine, file, folder_to_resume(file, options.run_dir),
                run_to_resume(file, options.run_dir),
                [&](const std::string& line) { options.console.say(line); });
  }
  STERNA_TRY(find_checkpoint(options, found));
  if (directory_for(options, file).goes_on) {
    STERNA_TRY(check_may_write_into(options.run_dir, file, found.from.get()));
  }
  return found.from != nullptr ? check_same_net(*found.from, file, found.data) : Result<void>();
}

}  // namespace

std::int64_t RunBeginning::first_step() const {
  return from ? static_cast<std::int64_t>(from->manifest.step) : 0;
}

Result<RunBeginning> look_at_beginning(RealMachine& machine, const WholeRunOptions& options) {
  STERNA_ASSIGN(RunBeginning found, look_at_what_is_given(options));
  STERNA_TRY(find_where_it_begins(machine, options, found));
  // A run that goes on has its own first weights: those of others, which may be gone by now, it
  // does not need.
  if (found.from != nullptr) return found;
  STERNA_ASSIGN(const std::vector<std::string> taken, look_at_init(found.file, found.data));
  for (const std::string& line : taken) options.console.say(line);
  return found;
}

RunDirectoryOptions directory_for(const WholeRunOptions& options, const ClusterFile& file,
                                  std::chrono::system_clock::time_point now) {
  RunDirectoryOptions where;
  where.config = file.cluster.name;
  where.explicit_path = options.run_dir;
  where.goes_on = goes_on_in_place(file) || options.begun;
  where.parent = options.run_parent;
  where.now = now;
  return where;
}

}  // namespace sterna::launcher
