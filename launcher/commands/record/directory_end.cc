#include "launcher/commands/record/directory_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "input/files/folder_lock.h"
#include "launcher/job/resume.h"
#include "launcher/record/run_directory.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/json_line.h"
#include "launcher/text/shell_word.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"
#include "launcher/view/read_result.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;
constexpr int kFormat = 1;

bool has(const fs::path& directory, std::string_view file) {
  std::error_code ignored;
  return fs::exists(directory / file, ignored);
}

/// What goes on in this directory, by the file that it has.
std::string command_in(const fs::path& directory) {
  const bool detached = has(directory, "logs/launcher.log");
  return resume_command(detached ? "up" : "run", directory.string());
}

/// The same, where it has a whole checkpoint that leaves steps to be made; else "".
std::string resume_in(const fs::path& directory) {
  Result<ClusterFile> file = read_cluster_file((directory / kResolvedFile).string());
  if (!file || !file->trains() || !file->checkpoint.on()) return "";
  file->checkpoint.resume = {.given = true};
  const std::string folder = folder_to_resume(*file, directory.string());
  const auto newest = newest_with_steps_left(folder, file->job.net, file->job.steps, false);
  return newest != nullptr ? command_in(directory) : "";
}

/// The folder that a command names as the run's; "" where it names none, as one of a queue's.
std::string run_dir_in(const std::string& command) {
  constexpr std::string_view kOption = "--run-dir ";
  const std::size_t at = command.find(kOption);
  if (at == std::string::npos) return "";
  std::size_t begin = at + kOption.size();
  const bool quoted = begin < command.size() && command[begin] == '\'';
  if (quoted) ++begin;
  return command.substr(begin, command.find(quoted ? '\'' : ' ', begin) - begin);
}

/// What the result says, unless that is of where the directory was before.
std::string resume_here(const Json& result, const fs::path& directory) {
  constexpr std::size_t kLongestCommand = std::size_t{32} << 10;  // of two paths, quoted
  std::string told = json_text_of(result, "resume", "");
  if (told.size() > kLongestCommand) told.clear();
  const std::string here = fmt::format("--run-dir {} ", shell_word(directory.string()));
  const std::string there = run_dir_in(told);
  std::error_code ignored;
  const bool moved = !there.empty() && told.find(here) == std::string::npos &&
                     !fs::equivalent(there, directory, ignored);
  return moved && has(directory, kResolvedFile) ? command_in(directory) : told;
}

std::string words_of(const Json& result, int exit) {
  const std::optional<double> steps = json_number_of(result, "steps");
  const std::string step = steps ? thousands(whole_number(*steps, 0, kLastStep)) : "";
  const std::optional<double> precision = json_number_of(result, "precision_at_1");
  constexpr double kMostSeconds = 1e10;  // 300 years
  if (exit == kExitDone && steps && precision) {
    return fmt::format(
        "has ended: precision@1 {:.4f} on {} after {} steps in {:.1f} s",
        std::clamp(*precision, 0.0, 1.0), json_kept_text(result, "data", "its data"), step,
        std::clamp(json_number_of(result, "seconds").value_or(0), 0.0, kMostSeconds));
  }
  return fmt::format("has ended{}: {}", step.empty() ? "" : " at step " + step,
                     exit == kExitDone ? "done" : json_kept_text(result, "cause", ""));
}

DirectoryEnd told(Json result, double exit, const fs::path& directory) {
  DirectoryEnd end{.phase = DirectoryEnd::Phase::told,
                   .exit = static_cast<int>(whole_number(exit, 0, UINT8_MAX)),
                   .words = {},
                   .resume = resume_here(result, directory),
                   .json = {}};
  end.words = words_of(result, end.exit);
  if (!end.resume.empty()) result["resume"] = end.resume;
  end.json = json_line(result);
  return end;
}

DirectoryEnd silent(const fs::path& directory) {
  Json json = {{"format", kFormat},
               {"run_directory", directory.string()},
               {"ended", nullptr},
               {"phase", "abandoned"}};
  const std::string resume = resume_in(directory);
  if (!resume.empty()) json["resume"] = resume;
  return {.phase = DirectoryEnd::Phase::silent,
          .words = "has ended without a word: it was killed, or its disk was full",
          .resume = resume,
          .json = json_line(json)};
}

}  // namespace

std::string DirectoryEnd::told_of(const std::string& name) const {
  std::string text = name + " " + words;
  if (!resume.empty()) text += "\nit goes on from its newest checkpoint with\n" + resume;
  return text;
}

Result<DirectoryEnd> directory_end(const std::string& directory) {
  const fs::path path = absolute_directory(directory);
  Result<Json> result = read_result(path.string());
  if (!result && result.error().code == Errc::permission) {
    return Error{Errc::permission, directory + ": Permission denied"};
  }
  const std::optional<double> exit = result ? json_number_of(*result, "exit") : std::nullopt;
  if (!exit && !has(path, kResolvedFile)) return DirectoryEnd();
  {  // One that goes on in it has not said its end yet. For a moment: who begins wants the lock.
    const Result<input::FolderLock> lock = input::FolderLock::take(path);
    if (!lock && lock.error().code != Errc::already_exists) return lock.error();
    if (!lock) {
      DirectoryEnd end;
      end.phase = DirectoryEnd::Phase::goes_on;
      return end;
    }
  }
  return exit ? told(std::move(result).value(), *exit, path) : silent(path);
}

}  // namespace sterna::launcher
