// Prints what becomes of each picture of a folder such as jpeg-odd. Usage: odd_pictures FOLDER
#include <cstdio>

#include "odd_pictures.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::fputs(sterna::input::table_of(sterna::input::odd_pictures(argv[1])).c_str(), stdout);
  return 0;
}
