// Programs that are named by descriptors: relative to a directory, closed by the exec, in memory,
// unlinked.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static char self[PATH_MAX];

static int at(int descriptor, const char* path, const char* word, int flags) {
  char* words[] = {self, (char*)word, NULL};
  return (int)syscall(SYS_execveat, descriptor, path, words, environ, flags);
}

static int relative_to_a_directory(void) {
  char* slash = strrchr(self, '/');
  *slash = '\0';
  const int folder = open(self, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return at(folder, slash + 1, "relative", 0);
}

static int by_descriptor(void) { return at(open(self, O_RDONLY), "", "kept", AT_EMPTY_PATH); }

static int without_the_flag(void) { return at(open(self, O_RDONLY), "", "none", 0); }

static int closed_by_exec(void) {
  return at(open(self, O_RDONLY | O_CLOEXEC), "", "closed", AT_EMPTY_PATH);
}

static int by_name_of_descriptor(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", open(self, O_RDONLY | O_CLOEXEC));
  char* words[] = {self, "named", NULL};
  return execv(path, words);
}

static void copy_self(int file) {
  const int own = open(self, O_RDONLY | O_CLOEXEC);
  struct stat status;
  fstat(own, &status);
  if (sendfile(file, own, NULL, (size_t)status.st_size) != status.st_size) _exit(60);
  close(own);
}

static int in_memory(void) {
  const int memory = memfd_create("program", MFD_CLOEXEC);
  copy_self(memory);
  return at(memory, "", "memory", AT_EMPTY_PATH);
}

static int unlinked(void) {
  char path[] = "/tmp/loft-sample-XXXXXX";
  const int file = mkstemp(path);
  copy_self(file);
  fchmod(file, 0700);
  const int readable = open(path, O_RDONLY | O_CLOEXEC);
  close(file);
  unlink(path);
  return at(readable, "", "unlinked", AT_EMPTY_PATH);
}

// How many descriptors are open: none may be left over. Those from 1000 on are the engine's own.
static int open_descriptors(void) {
  int count = 0;
  for (int i = 3; i < 1000; ++i) count += fcntl(i, F_GETFD) >= 0;
  return count;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1) {
    printf("%s with %d descriptors\n", argv[1], open_descriptors());
    return 9;
  }
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return 1;
  int (*ways[])(void) = {relative_to_a_directory, by_descriptor, without_the_flag, closed_by_exec,
                         by_name_of_descriptor,   in_memory,     unlinked};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      ways[i]();
      _exit(errno);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return 0;
}
