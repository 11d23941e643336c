#include "tests/fuzz/weights/manifest_seeds.h"

#include "actors/checkpoint/manifest.h"

namespace sterna::fuzz {

std::vector<std::string> manifest_seeds() {
  actors::Manifest plain{.net = "lenet",
                         .step = 30,
                         .position = 480,
                         .ranks = 2,
                         .resolved = "format = 1\n",
                         .parts = {{"server0", "server0.safetensors", 1024, {}}},
                         .precision = {}};
  actors::Manifest full = plain;
  full.parts.push_back({"worker0", "worker0.safetensors", 0, {}});
  full.precision = actors::MeasuredPrecision{0.875, 2000};
  full.note = {{"format", "2"}, {"job.net", "\"lenet\""}};
  return {to_json(plain), to_json(full)};
}

}  // namespace sterna::fuzz
