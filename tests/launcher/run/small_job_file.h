// A small job as a cluster file, for who looks at it before it runs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// With `settings` as `--set` takes them.
inline ClusterFile small_job_file(const std::vector<std::string>& settings = {}) {
  const std::string text = R"(format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "mlp"
hidden = [4]
steps = 10
)";
  Result<ClusterFile> file = parse_cluster_file(text, "x.toml", settings);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? *std::move(file) : ClusterFile();
}

}  // namespace sterna::launcher
