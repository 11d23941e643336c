// The program `sterna`.
#include "launcher/cli.h"

int main(int argc, char** argv) { return sterna::launcher::command_line(argc, argv); }
