/* What stands for a part of the driver that nothing under test calls into: a library or a program
 * that says what it is. A library is this with -DSTUB_LIBRARY: a real shared object with the real
 * SONAME, for what reads ELF files. */
#ifndef STUB_LIBRARY
#include <stdio.h>
#include <string.h>
#endif

__attribute__((visibility("default"))) const char pawl_stand_in[] =
    "stand-in for a part of NVIDIA driver " STUB_VERSION;

#ifndef STUB_LIBRARY
int main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const char* name = slash ? slash + 1 : argv[0];
  if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0)) {
    printf("%s:  version %s (stand-in)\n", name, STUB_VERSION);
    return 0;
  }
  fprintf(stderr, "%s: %s; it only knows --version\n", name, pawl_stand_in);
  return 1;
}
#endif
