// Uses descriptors whose numbers the engine has for itself: closed ones are closed, and the program
// may take each number, keep it through fork, threads and exec, and close it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFirst = 995, kLast = 1010 };

static void show(const char* what, int number, long result) {
  printf("%s %d: %ld %s\n", what, number, result, result < 0 ? strerror(errno) : "");
}

static void use_closed(int number) {
  struct stat status;
  char byte = 'x';
  const struct iovec vector = {&byte, 1};
  show("write", number, write(number, "x", 1));
  show("read", number, read(number, &byte, 1));
  show("pwrite", number, pwrite(number, "x", 1, 0));
  show("writev", number, writev(number, &vector, 1));
  show("fstat", number, fstat(number, &status));
  show("seek", number, lseek(number, 0, SEEK_CUR));
  show("truncate", number, ftruncate(number, 0));
  show("flags", number, fcntl(number, F_GETFD));
  show("dup", number, dup(number));
  show("dup2", number, dup2(number, number));
  show("dup2 away", number, dup2(number, 5));
  show("close", number, close(number));
  show("sendfile", number, sendfile(1, number, NULL, 1));
  show("map", number, mmap(NULL, 4096, PROT_READ, MAP_SHARED, number, 0) == MAP_FAILED ? -1 : 0);
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN, {0}};
  show("epoll", number, epoll_ctl(poll, EPOLL_CTL_ADD, number, &event));
  close(poll);
}

static void* in_thread(void* text) {
  dprintf(1000, "%s\n", (const char*)text);
  return NULL;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1) {  // after exec
    for (int number = kFirst; number <= kLast; ++number)
      show("after exec", number, write(number, "kept\n", 5));
    return 0;
  }
  for (int number = kFirst; number <= kLast; ++number) use_closed(number);
  show("group", 0, setpgid(1000, 1000) < 0);  // a number that is no descriptor
  for (int number = kFirst; number <= kLast; ++number) {
    show("take", number, dup2(1, number));
    show("use", number, write(number, "mine\n", 5));
  }
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, "from a thread");
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    pthread_create(&thread, NULL, in_thread, "from a thread of a child");
    pthread_join(thread, NULL);
    show("closed by the child", 1000, close(1000));
    char* words[] = {argv[0], "again", NULL};
    execv("/proc/self/exe", words);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  show("child", 0, status);
  for (int number = kFirst; number <= kLast; ++number) show("leave", number, close(number));
  for (int number = kFirst; number <= kLast; ++number) show("left", number, write(number, "x", 1));
  return 0;
}
