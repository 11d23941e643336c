// Runs' directories as plots read them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/base/result.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher::test {

inline const std::string kHead = R"({"format":1,"kind":"run","run":"r"})"
                                 "\n";

inline std::string step(int step, double seconds, int up, int down) {
  return "{\"kind\":\"step\",\"step\":" + std::to_string(step) +
         ",\"seconds\":" + std::to_string(seconds) + ",\"bytes_up\":" + std::to_string(up) +
         ",\"bytes_down\":" + std::to_string(down) + ",\"nonzero\":null}\n";
}
inline std::string evaluation(int step, double precision, const std::string& subset = "test",
                              int examples = 0, const std::string& of = "parameters") {
  return "{\"kind\":\"evaluation\",\"step\":" + std::to_string(step) + ",\"subset\":\"" + subset +
         "\",\"of\":\"" + of + "\",\"precision_at_1\":" + std::to_string(precision) +
         ",\"examples\":" + std::to_string(examples) + ",\"left_out_examples\":0}\n";
}
inline std::string loss(int step, double loss) {
  return "{\"kind\":\"loss\",\"step\":" + std::to_string(step) +
         ",\"loss\":" + std::to_string(loss) + ",\"decay_loss\":0.5}\n";
}

class RunFolders : public testing::Test {
 protected:
  std::string run(const std::string& name, const std::string& metrics,
                  const std::string& resolved = "") {
    std::string folder = temporary.path() + "/" + name;
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/metrics.jsonl") << metrics;
    std::ofstream(folder + "/resolved.toml") << resolved;
    return folder;
  }
  static std::string file(const std::string& codec, int seed) {
    return "format = 1\n\n[job]\nnet = \"lenet\"\nseed = " + std::to_string(seed) +
           "\n\n[gradient]\ncodec = \"" + codec + "\"\n";
  }
  static std::string error(const auto& result) {
    return result.ok() ? "no error" : result.error().message;
  }
  TemporaryFolder temporary;
};

}  // namespace sterna::launcher::test
