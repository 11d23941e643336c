// A small job as a cluster file, for who looks at it before it runs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "tests/launcher/one_of_each.h"

namespace sterna::launcher {

/// With `settings` as `--set` takes them.
inline ClusterFile small_job_file(const std::vector<std::string>& settings = {}) {
  const std::string text = kOneOfEach + R"([job]
net = "mlp"
hidden = [4]
steps = 10
)";
  Result<ClusterFile> file = parse_cluster_file(text, "x.toml", settings);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? *std::move(file) : ClusterFile();
}

}  // namespace sterna::launcher
