/* Linked into the static program only (scripts/package): what its --version says, and no libraries
   at run time. A static libc would load them with whatever libc the machine has, and may crash. */
#include <stddef.h>

const char loft_build[] = "static";

void* dlopen(const char* name, int flags) {
  (void)name;
  (void)flags;
  return NULL;
}

void* dlsym(void* library, const char* name) {
  (void)library;
  (void)name;
  return NULL;
}

int dlclose(void* library) {
  (void)library;
  return 0;
}

char* dlerror(void) {
  static char why[] = "the static build of loft loads no libraries";
  return why;
}
