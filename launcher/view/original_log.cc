#include "launcher/view/original_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {
namespace {

void write_line(TextSink& out, const std::string& line) { out.put(line + "\n"); }

class SchlagLog final : public RunView {
 public:
  explicit SchlagLog(TextSink& out) : out_(out) {}

  void update(const RunStatus& status) override {
    const std::int64_t batches = std::max<std::int64_t>(1, status.batches_of_epoch);
    const bool due =
        status.step / kEvery > step_ / kEvery || status.step / batches > step_ / batches;
    if (!due || !status.loss) return;
    const double seconds = status.elapsed_seconds - seconds_;
    const auto steps = static_cast<double>(status.step - step_);
    write_line(out_, fmt::format("Step: {},  Epoch: {:2},  Batch: {:3} of {:3},  Cost: {:.4f},  "
                                 "AvgTime: {:3.2f}ms",
                                 status.step, (status.step - 1) / batches + 1,
                                 (status.step - 1) % batches + 1, batches, *status.loss,
                                 1000 * seconds / steps));
    step_ = status.step;
    seconds_ = status.elapsed_seconds;
  }

  void finish(const RunStatus& status) override {
    if (status.phase != "done") return;
    if (status.precision_at_1) {
      write_line(out_, fmt::format("Test-Accuracy: {:2.2f}", *status.precision_at_1));
    }
    write_line(out_, fmt::format("Total Time: {:3.2f}s", status.elapsed_seconds));
    if (status.loss) write_line(out_, fmt::format("Final Cost: {:.4f}", *status.loss));
    write_line(out_, "done");
  }

 private:
  static constexpr std::int64_t kEvery = 100;
  TextSink& out_;
  std::int64_t step_ = 0;  // of the last line
  double seconds_ = 0;     // at it
};

class TerngradLog final : public RunView {
 public:
  TerngradLog(TextSink& out, std::function<std::string()> date)
      : out_(out), date_(std::move(date)) {}

  void update(const RunStatus& status) override {
    if (status.step / kEvery > step_ / kEvery && status.loss) {
      const auto steps = static_cast<double>(status.step - step_);
      write_line(out_, fmt::format("{}: step {}, loss = {:.2f} ({:.1f} examples/sec; {:.3f} "
                                   "sec/batch)",
                                   date_(), status.step, *status.loss,
                                   status.examples_per_second.value_or(0),
                                   (status.elapsed_seconds - seconds_) / steps));
      step_ = status.step;
      seconds_ = status.elapsed_seconds;
    }
    if (!status.precision_at_1 || status.precision_step == evaluated_) return;
    write_line(out_, fmt::format("{}: precision @ 1 = {:.4f} recall @ 5 = {:.4f}", date_(),
                                 *status.precision_at_1, status.recall_at_5.value_or(1)));
    evaluated_ = status.precision_step;
  }

  void finish(const RunStatus& status) override { update(status); }

 private:
  static constexpr std::int64_t kEvery = 10;
  TextSink& out_;
  std::function<std::string()> date_;
  std::int64_t step_ = 0;  // of the last line
  double seconds_ = 0;     // at it
  std::int64_t evaluated_ = -1;
};

}  // namespace

std::unique_ptr<RunView> make_original_log(std::string_view style, TextSink& out,
                                           std::function<std::string()> date) {
  if (style == kSchlagLog) return std::make_unique<SchlagLog>(out);
  return std::make_unique<TerngradLog>(out, std::move(date));
}

std::string date_here() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

}  // namespace sterna::launcher
