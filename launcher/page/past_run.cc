#include "launcher/page/past_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "launcher/text/console.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"
#include "launcher/view/read_result.h"
#include "launcher/view/status_json.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

/// Of a run from before there was a status.json, or whose status another build wrote.
RunStatus status_from(const Json& result) {
  RunStatus status;
  const double exit = json_number_of(result, "exit").value_or(kExitFailed);
  status.phase = exit == kExitDone ? "done" : exit == kExitInterrupted ? "interrupted" : "failed";
  status.cause = json_kept_text(result, "cause", "");
  status.step = whole_number(json_number_of(result, "steps").value_or(0), 0, kLastStep);
  status.steps = status.step;
  status.elapsed_seconds = json_number_of(result, "seconds").value_or(0);
  status.loss = json_number_of(result, "loss");
  status.decay_loss = json_number_of(result, "decay_loss");
  status.examples_per_second = json_number_of(result, "examples_per_second");
  status.precision_at_1 = json_number_of(result, "precision_at_1");
  status.precision_step = status.step;
  status.recall_at_5 = json_number_of(result, "recall_at_5");
  status.bits_up = json_number_of(result, "bits_per_element_up");
  status.bits_down = json_number_of(result, "bits_per_element_down");
  return status;
}

}  // namespace

PastRun past_run(const std::string& directory) {
  PastRun run;
  run.status.phase = "unknown";
  const Result<Json> told = read_result(directory);
  const Json result = told ? *told : Json::object();
  if (told) {
    constexpr int kMostExit = 255;
    run.exit = static_cast<int>(
        whole_number(json_number_of(result, "exit").value_or(1), -kMostExit, kMostExit));
    run.status = status_from(result);
    run.words = json_kept_text(result, "cause", "");
    if (*run.exit == 0) {
      run.words = fmt::format("done after {} steps in {}", thousands(run.status.step),
                              seconds_text(run.status.elapsed_seconds));
    }
  }
  const Result<std::string> status_text = read_file(directory + "/status.json");
  if (Result<RunStatus> last =
          status_text ? parse_status(*status_text) : Result<RunStatus>(status_text.error());
      last && told) {
    run.status = std::move(last).value();
  }
  run.status.run_directory = directory;
  if (run.status.config.empty()) {
    run.status.config = std::filesystem::path(directory).filename().string();
  }
  return run;
}

}  // namespace sterna::launcher
