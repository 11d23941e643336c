// A job on virtual time whose actors are lost and come again, beside the same one that nobody
// disturbs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {

class JobRestartsTest : public SimulatedJob {
 protected:
  JobRestartsTest() { job.hidden = {100}; }  // a tensor of two chunks, on two servers
  /// How long the job takes that nobody disturbs; its hash and evaluations are remembered.
  void calm(const JobLayout& layout) {
    const Time began = loop.now();
    hash = hash_of(layout);
    took = loop.now() - began;
    evaluated = told_once();
  }
  /// The same job; `name` is lost after a part of that time, and comes again after `pause`; false:
  /// that moment was left out.
  bool disturbed(const JobLayout& layout, const std::string& name, double part,
                 Duration pause = std::chrono::milliseconds(200)) {
    if (moments.leaves_out()) return false;
    launch(layout);
    pass(Duration(static_cast<std::int64_t>(static_cast<double>(took.count()) * part)));
    lose(name);
    pass(pause);
    bring_back(name);
    finish();
    for (const std::string& death : deaths)
      ADD_FAILURE() << name << " at " << part << ": " << death;
    EXPECT_TRUE(record.finished) << name << " at " << part << ", of " << job.gradient.codec << ", "
                                 << static_cast<int>(job.gradient.scaler);
    if (record.finished) {
      EXPECT_EQ(record.finished->parameters_sha256, hash) << name << " at " << part;
    }
    return true;
  }
  /// The same job; `name` is lost after that time with what its host kept for it, and comes again.
  void loses_its_host(const JobLayout& layout, const std::string& name, Duration after) {
    launch(layout);
    pass(after);
    lose(name);
    host_memory.forget(name);
    bring_back(name);
    finish();
  }
  /// What the observer has heard, each once; what was told twice was the same.
  std::vector<Evaluated> told_once() {
    std::vector<Evaluated> once;
    for (const Evaluated& one : record.evaluated) {
      const auto known = std::ranges::find_if(once, [&](const Evaluated& other) {
        return other.step == one.step && other.subset == one.subset && other.of == one.of;
      });
      if (known == once.end()) {
        once.push_back(one);
      } else {
        Evaluated same = one;
        same.skipped = known->skipped;
        EXPECT_EQ(same, *known);
      }
    }
    return once;
  }

  std::string hash;
  Duration took{};
  test::Moments moments;
  std::vector<Evaluated> evaluated;
};

}  // namespace sterna::actors
