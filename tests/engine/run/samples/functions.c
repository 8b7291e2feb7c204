// Known counts per function. Arguments: libraries with the same function, one loaded after the
// other was closed, so that mostly all stand at the same address; or "map", which leaves a
// /tmp/perf-PID.map; or "dump FOLDER", which leaves a jitdump there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// 2002 instructions: mov, 1000 times dec and jnz, ret. Its first function has no end of its own.
__asm__(
    ".text\n"
    ".globl counted_loop\n.type counted_loop, @function\n"
    "counted_loop:\n mov $1000, %ecx\n1: dec %ecx\n jnz 1b\n ret\n"
    ".size counted_loop, .-counted_loop\n"
    ".globl runs_into\n.type runs_into, @function\n"
    "runs_into:\n mov %edi, %eax\n nop\n nop\n"
    ".size runs_into, .-runs_into\n"
    ".globl is_run_into\n.type is_run_into, @function\n"
    "is_run_into:\n add $1, %eax\n ret\n"
    ".size is_run_into, .-is_run_into\n"
    ".Lwithout_symbol:\n xor %eax, %eax\n nop\n nop\n nop\n ret\n"
    ".globl call_without_symbol\n.type call_without_symbol, @function\n"
    "call_without_symbol:\n call .Lwithout_symbol\n ret\n"
    ".size call_without_symbol, .-call_without_symbol\n");
void counted_loop(void);
int runs_into(int);
void call_without_symbol(void);

static void* thread_of_five(void* unused) {
  for (int i = 0; i < 5; ++i) counted_loop();
  return unused;
}

// mov eax, value; ret. Named in /tmp/perf-PID.map when there is a name.
static void make_code(const char* name, int calls) {
  static const unsigned char code[] = {0xB8, 1, 0, 0, 0, 0xC3};
  void* memory =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  if (name != NULL) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE* map = fopen(path, "w");
    fprintf(map, "%lx %zx %s\n", (unsigned long)memory, sizeof code, name);
    fclose(map);
  }
  for (int i = 0; i < calls; ++i) ((int (*)(void))memory)();
}

static void put(FILE* file, unsigned long value, size_t bytes) { fwrite(&value, bytes, 1, file); }

// The same, told in FOLDER/jit-PID.dump, which is mapped as the format asks for.
static void make_dumped_code(const char* folder, const char* name, int calls) {
  static const unsigned char code[] = {0xB8, 2, 0, 0, 0, 0xC3};
  unsigned char* memory =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  char path[256];
  snprintf(path, sizeof path, "%s/jit-%d.dump", folder, getpid());
  FILE* dump = fopen(path, "w+");
  const unsigned header[] = {0x4A695444, 1, 40, 62, 0, (unsigned)getpid()};
  fwrite(header, sizeof header, 1, dump);
  put(dump, 0, 8);  // time
  put(dump, 0, 8);  // flags
  put(dump, 0, 4);  // a load of code
  put(dump, 16 + 40 + strlen(name) + 1 + sizeof code, 4);
  put(dump, 0, 8);
  put(dump, (unsigned)getpid(), 4);
  put(dump, (unsigned)getpid(), 4);
  put(dump, (unsigned long)memory, 8);
  put(dump, (unsigned long)memory, 8);
  put(dump, sizeof code, 8);
  put(dump, 1, 8);
  fwrite(name, strlen(name) + 1, 1, dump);
  fwrite(code, sizeof code, 1, dump);
  fflush(dump);
  mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
  fclose(dump);
  for (int i = 0; i < calls; ++i) ((int (*)(void))memory)();
  const pid_t child = fork();
  if (child == 0) {  // it runs what its parent made
    ((int (*)(void))memory)();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static int call_in(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  int (*function)(int) = (int (*)(int))dlsym(handle, "in_library");
  const int result = function(100);
  dlclose(handle);
  return result;
}

int main(int count, char** arguments) {
  for (int i = 0; i < 3; ++i) counted_loop();
  pthread_t thread;
  pthread_create(&thread, NULL, thread_of_five, NULL);
  pthread_join(thread, NULL);
  for (int i = 0; i < 10; ++i) runs_into(i);
  for (int i = 0; i < 4; ++i) call_without_symbol();
  if (count > 2 && strcmp(arguments[1], "dump") == 0) {
    make_dumped_code(arguments[2], "told_in_a_dump", 11);
    return 0;
  }
  const int has_map = count > 1 && strcmp(arguments[1], "map") == 0;
  make_code(has_map ? "made_while_running" : NULL, 7);
  make_code(NULL, 9);
  struct timespec now;
  for (int i = 0; i < 6; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  for (int i = 1 + has_map; i < count; ++i) printf("%d\n", call_in(arguments[i]));
  return 0;
}
