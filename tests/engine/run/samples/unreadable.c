// Code that can be run but not read: the kernel's page of old system calls, and memory that may
// only be executed.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static int has_old_calls(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "xp") != NULL && strstr(line, "[vsyscall]") != NULL) found = 1;
  fclose(maps);
  return found;
}

static void call_old_entries(void) {
  if (!has_old_calls()) return;
  long (*volatile old_gettimeofday)(struct timeval*, void*) = (void*)0xffffffffff600000;
  long (*volatile old_time)(time_t*) = (void*)0xffffffffff600400;
  long (*volatile old_getcpu)(unsigned*, unsigned*, void*) = (void*)0xffffffffff600800;
  struct timeval now = {0, 0};
  unsigned cpu = 100000;
  time_t seconds = 0;
  for (int i = 0; i < 3; ++i) {
    const long first = old_gettimeofday(&now, NULL);
    const long second = old_time(&seconds);
    const long third = old_getcpu(&cpu, NULL, NULL);
    printf("%ld %d %d %ld %d\n", first, now.tv_sec > 1600000000, second == seconds, third,
           cpu < 100000);
  }
}

int main(void) {
  call_old_entries();
  const unsigned char code[] = {0xB8, 42, 0, 0, 0, 0xC3};  // mov eax, 42; ret
  unsigned char* memory =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  mprotect(memory, 4096, PROT_EXEC);
  int (*volatile function)(void) = (int (*)(void))memory;
  printf("%d\n", function());
  return 0;
}
