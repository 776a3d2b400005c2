// Loads a library as the graph engine does (RTLD_NOW, not global), from a program that links nothing of the toolkit.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  if (dlopen(argv[1], RTLD_NOW) != nullptr) return 0;
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}
