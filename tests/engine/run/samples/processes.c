// fork, vfork, exec, failed exec, scripts and the links of /proc.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int ended(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1) {
    printf("child %s, variable %s\n", argv[1], getenv("SAMPLE"));
    return 9;
  }
  setenv("SAMPLE", "kept", 1);
  char self[PATH_MAX] = {0};
  printf("link of self: %d\n", readlink("/proc/self/exe", self, sizeof self - 1) > 0 &&
                                   strstr(self, "processes.c") != NULL);

  pid_t child = fork();
  if (child == 0) _exit(7);
  printf("fork: %d\n", ended(child));

  char* words[] = {argv[0], "spawned", NULL};
  const int spawned = posix_spawn(&child, self, NULL, NULL, words, environ);
  const int status = ended(child);
  printf("spawn: %d, %d\n", spawned, status);
  printf("spawn of nothing: %d\n",
         posix_spawn(&child, "/nonexistent", NULL, NULL, words, environ) == ENOENT);

  child = vfork();
  if (child == 0) {
    execl("/nonexistent", "x", NULL);
    _exit(errno == ENOENT ? 4 : 5);
  }
  printf("vfork: %d\n", ended(child));

  char script[] = "/tmp/loft-sample-XXXXXX";
  const int file = mkstemp(script);
  dprintf(file, "#!%s from-script\n", self);
  fchmod(file, 0700);
  close(file);
  char* script_words[] = {script, NULL};
  child = fork();
  if (child == 0) {
    execv(script, script_words);
    _exit(100);
  }
  printf("script: %d\n", ended(child));
  chmod(script, 0600);
  const int refused = execv(script, script_words);
  printf("not executable: %d %d\n", refused, errno == EACCES);
  unlink(script);
  child = fork();
  if (child == 0) abort();
  printf("abort: %d\n", ended(child));
  for (int descriptor = 3; descriptor < 2000; ++descriptor) close(descriptor);
  words[1] = "replaced";
  execv(self, words);
  return 100;
}
