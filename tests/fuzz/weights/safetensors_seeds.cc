#include "tests/fuzz/weights/safetensors_seeds.h"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "actors/weights/model_note.h"

namespace sterna::fuzz {
namespace {

std::string file_of(const nlohmann::json& header, std::size_t data) {
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + text + std::string(data, 'x');
}

nets::Metadata note_of_lenet() {
  actors::JobConfig job;
  job.net = "lenet";
  return to_metadata(actors::note_of(job, 5, "mnist", {{"zero", "one"}, 0}));
}

}  // namespace

std::vector<std::string> safetensors_seeds() {
  const auto tensor = [](const char* type, const nlohmann::json& shape, int begin, int end) {
    return nlohmann::json{{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, end}}};
  };
  return {file_of({{"a", tensor("F32", {2, 3}, 0, 24)}, {"b", tensor("F16", {2}, 24, 28)}}, 28),
          file_of({{"b", tensor("BF16", {1, 1}, 0, 2)}, {"n", tensor("I64", {1}, 2, 10)}}, 10),
          file_of({{"__metadata__", note_of_lenet()}, {"w", tensor("F32", {1}, 0, 4)}}, 4),
          file_of({{"__metadata__", note_of_lenet()}, {"q", tensor("F4", {3}, 0, 2)}}, 2)};
}

}  // namespace sterna::fuzz
