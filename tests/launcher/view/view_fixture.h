// A run in its middle, as the view's tests show it, and where they show it.
#pragma once

#include <string>
#include <utility>

#include "launcher/view/run_status.h"
#include "runtime/loop/text_writer.h"

namespace sterna::launcher {

/// What was put into it can be read again. Nothing takes time but while `slow`.
class RecordedText final : public TextSink {
 public:
  void put(std::string text) override { text_ += text; }
  bool idle() const override { return !slow; }
  /// Since the last call.
  std::string taken() { return std::exchange(text_, {}); }
  bool slow = false;

 private:
  std::string text_;
};

inline RunStatus status_in_training() {
  RunStatus s;
  s.config = "lenet_mnist";
  s.run_directory = "runs/lenet_mnist-20260102T030405Z";
  s.phase = "training";
  s.step = 1250;
  s.steps = 2000;
  s.elapsed_seconds = 21.3;
  s.left_seconds = 12.8;
  s.loss = 0.0833;
  s.examples_per_second = 3912.4;
  s.precision_at_1 = 0.9812;
  s.precision_step = 1000;
  s.bits_up = 2.031;
  s.bits_down = 32;
  s.actors = {{"server0", "parameter_server", "running", 811, 55'700'000, 0, 0.12, 402'000'000,
               6'280'000'000},
              {"worker0", "worker", "dead", 812, 0, 1'310'000, 11.5, 3'140'000'000, 201'000'000}};
  s.log_lines = {"worker0: killed by signal 9"};
  return s;
}

}  // namespace sterna::launcher
