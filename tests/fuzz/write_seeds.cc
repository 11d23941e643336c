// Writes the corpus that a fuzzer starts from. Usage: fuzz_seeds NAME DIR, where NAME_fuzz is the
// fuzzer.
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/decode_input.h"
#include "tests/fuzz/decode_picture.h"
#include "tests/fuzz/decode_planes.h"
#include "tests/fuzz/input_seeds.h"
#include "tests/fuzz/numbers/decode_numbers.h"
#include "tests/fuzz/weights/manifest_seeds.h"
#include "tests/fuzz/weights/safetensors_seeds.h"

int main(int argc, char** argv) {
  using namespace sterna::fuzz;
  using sterna::input::Coding;
  const std::map<std::string, std::function<std::vector<std::string>()>> corpora{
      {"envelope", seeds},
      {"numbers", number_seeds},
      {"planes", plane_seeds},
      {"jpeg", [] { return picture_seeds(Coding::jpeg); }},
      {"png", [] { return picture_seeds(Coding::png); }},
      {"tfrecord", tfrecord_seeds},
      {"example", example_seeds},
      {"idx", idx_seeds},
      {"cifar", cifar_seeds},
      {"safetensors", safetensors_seeds},
      {"manifest", manifest_seeds}};
  if (argc != 3 || !corpora.contains(argv[1])) return 2;
  const std::filesystem::path directory = argv[2];
  std::filesystem::create_directories(directory);
  std::size_t number = 0;
  for (const std::string& input : corpora.at(argv[1])()) {
    std::ofstream out(directory / ("seed-" + std::to_string(number++)), std::ios::binary);
    out.write(input.data(), static_cast<std::streamsize>(input.size()));
    if (!out.good()) return 1;
  }
  return 0;
}
