// Writes the corpus that envelope_fuzz starts from. Usage: envelope_seeds DIR
#include <filesystem>
#include <fstream>

#include "tests/fuzz/decode_input.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  std::size_t number = 0;
  for (const std::string& input : sterna::fuzz::seeds()) {
    std::ofstream out(directory / ("seed-" + std::to_string(number++)), std::ios::binary);
    out.write(input.data(), static_cast<std::streamsize>(input.size()));
    if (!out.good()) return 1;
  }
  return 0;
}
