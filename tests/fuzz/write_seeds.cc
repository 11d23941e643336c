// Writes the corpus that a fuzzer starts from. Usage: fuzz_seeds envelope|planes DIR
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/decode_input.h"
#include "tests/fuzz/decode_planes.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string fuzzer = argv[1];
  if (fuzzer != "envelope" && fuzzer != "planes") return 2;
  const std::filesystem::path directory = argv[2];
  std::filesystem::create_directories(directory);
  std::size_t number = 0;
  for (const std::string& input :
       fuzzer == "planes" ? sterna::fuzz::plane_seeds() : sterna::fuzz::seeds()) {
    std::ofstream out(directory / ("seed-" + std::to_string(number++)), std::ios::binary);
    out.write(input.data(), static_cast<std::streamsize>(input.size()));
    if (!out.good()) return 1;
  }
  return 0;
}
