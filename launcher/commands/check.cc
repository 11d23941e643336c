// sterna check FILE: reads the cluster file and says what it describes and where everything would
// run; contacts no host, and starts nothing but the file's program, to describe its actor types.
// Where the file or --data names a folder of data on this machine it also looks at that, and at the
// weights of [init], as `sterna run` would before it starts anything.
#include <fmt/format.h>

#include "actors/reader/data_folder.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/cluster_file/placement_view.h"
#include "launcher/commands/file_arguments.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/job/program_check.h"
#include "launcher/run/run_data.h"
#include "launcher/run/run_init.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

struct CheckOptions {
  GivenFile given;
  std::string data;  ///< --data; empty: not given
  bool json = false;
};

/// What the job would be given of the data in the folder that --data or the file names, and of the
/// weights that it begins with; nothing where no folder is named, or none here.
Result<std::string> data_line(const CheckOptions& options, const ClusterFile& file,
                              const Console& console) {
  STERNA_TRY(check_data_flag(options.data, file));
  const bool named = !options.data.empty() || names_data_here(file);
  if (!named || head_is_remote(file)) {
    STERNA_TRY(check_classes_unseen(file));
    return std::string();
  }
  STERNA_ASSIGN(const input::DataLocation data, find_run_data(options.data, file, console));
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, data));
  STERNA_ASSIGN(const std::vector<std::string> taken,
                look_at_init(with_absolute_init(file, console), data));
  std::string text =
      fmt::format("data: {} in {}; the net sees {} x {} x {}, and {} classes\n",
                  input::told_name(data.dir, data.name), data.folder().string(), job.picture.rows,
                  job.picture.columns, job.picture.channels, job.classes);
  if (const std::string hint = picture_size_hint(job); !hint.empty()) text += hint + "\n";
  const input::DataOptions how = actors::data_options(file.data, file.job.seed);
  STERNA_ASSIGN(const std::vector<std::string> hints, input::class_hints(data.dir, how));
  for (const std::string& hint : hints) text += printable(hint) + "\n";
  for (const std::string& line : taken) text += line + "\n";
  return text;
}

int check(const CheckOptions& options, const Context& context) {
  const Console& console = context.console;
  const Result<ClusterFile> file = read_cluster_file(options.given.file, options.given.overrides);
  if (!file) return console.report(file.error());
  RealMachine machine;
  const Result<Program> program = check_program(machine, context.registry, *file);
  if (!program) return console.report(program.error());
  const Result<std::string> data = data_line(options, *file, console);
  if (!data) return console.report(data.error());
  if (options.json) return console.result(placement_json(*file) + "\n");
  std::string text = fmt::format("{}: good. {}\n", options.given.file, summary(*file));
  for (const std::string& line : placement_lines(*file)) text += line + "\n";
  for (const std::string& line : doubtful_lines(*file)) text += line + "\n";
  text += *data;
  return console.result(text);
}

}  // namespace

Command check_command() {
  const auto o = std::make_shared<CheckOptions>();
  return {
      "check", "Check a cluster file and show who runs where; start nothing",
      with_file(o->given, {{"--data", &o->data, "Look at the data set in this folder, too", "DIR"},
                           {"--json", &o->json, "Print the placement as one line of JSON"}}),
      [o](const Context& context) { return check(*o, context); }};
}

}  // namespace sterna::launcher
