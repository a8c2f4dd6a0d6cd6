// Build-time tool: writes the declarations of the plug-ins that only the torch library has as JSON.
#include <cstdio>
#include <fstream>

#include "nn/declarations.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: eureka_declare FILE\n");
    return 2;
  }
  std::ofstream(argv[1]) << eureka::torch_declarations() << "\n";
  return 0;
}
