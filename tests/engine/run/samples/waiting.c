// Opening a pipe that nobody writes to waits. A signal still gets through: its handler may leave,
// or the call starts again and goes on waiting.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf way_out;
static int alarms;
static int go[2];  // written to when the third alarm has come

static void leave(int number) {
  (void)number;
  siglongjmp(way_out, 1);
}

static void come_again(int number) {
  (void)number;
  ualarm(10000, 0);
}

static void count(int number) {
  (void)number;
  if (++alarms == 3 && write(go[1], "", 1) != 1) _exit(1);
  ualarm(10000, 0);
}

static void on_alarm(void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, NULL);
  ualarm(20000, 0);
}

int main(void) {
  char path[] = "/tmp/loft-waiting-XXXXXX";
  if (pipe(go) != 0 || mkdtemp(path) == NULL || chdir(path) != 0 || mkfifo("pipe", 0600) != 0)
    return 1;
  if (sigsetjmp(way_out, 1) == 0) {
    on_alarm(leave, SA_RESTART);
    open("pipe", O_RDONLY);
    puts("not reached");
  }
  puts("left");
  on_alarm(come_again, 0);
  const int interrupted = open("pipe", O_RDONLY);
  ualarm(0, 0);
  printf("interrupted %d errno %d\n", interrupted, errno);
  char byte = 0;
  if (fork() == 0) _exit(read(go[0], &byte, 1) == 1 && open("pipe", O_WRONLY) >= 0 ? 0 : 1);
  on_alarm(count, SA_RESTART);
  const int opened = open("pipe", O_RDONLY);
  ualarm(0, 0);
  printf("opened %d after three alarms %d\n", opened >= 0, alarms >= 3);
  wait(NULL);
  unlink("pipe");
  return rmdir(path);
}
