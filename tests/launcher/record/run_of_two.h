// A run of two workers, a server, a reader and an evaluator, for tests of who hears from them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "actors/job/job.h"
#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

inline constexpr std::uint64_t kStepsOfTwo = 10;

inline constexpr const char* kFileOfTwo = R"(format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
count = 2
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 10
)";

inline ClusterFile file_of_two(const std::vector<std::string>& overrides = {}) {
  Result<ClusterFile> file = parse_cluster_file(kFileOfTwo, "x.toml", overrides);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return *std::move(file);
}

inline actors::JobConfig job_of_two() {
  actors::JobConfig job;
  job.ranks = 2;
  job.steps = kStepsOfTwo;
  return job;
}

}  // namespace sterna::launcher
