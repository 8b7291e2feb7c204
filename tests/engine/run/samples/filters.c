// seccomp filters: every answer that a filter can give, in processes and threads, and behind exec.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What the filter answers to a call of that number; others are allowed.
static int filter(long number, unsigned answer, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)context;
  char text[96];
  const int size = snprintf(text, sizeof text, "signal %d code %d call %d errno %d\n", number,
                            info->si_code, info->si_syscall, info->si_errno);
  if (write(1, text, (size_t)size) != size) _exit(1);
}

static void on_alarm(int number) { (void)number; }

static void fails(void) {
  printf("set %d\n", filter(SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV, 0));
  printf("mkdir %d errno %d\n", mkdir("/nowhere/at/all", 0700), errno);
  printf("mode %d\n", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
  // The stricter of two answers counts, whichever came first.
  filter(SYS_mkdir, SECCOMP_RET_ALLOW, 0);
  printf("mkdir %d errno %d\n", mkdir("/nowhere/at/all", 0700), errno);
}

static void traps(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, NULL);
  filter(SYS_getppid, SECCOMP_RET_TRAP | 77, 0);
  printf("returned %ld\n", syscall(SYS_getppid));
}

static void traps_unhandled(void) {
  filter(SYS_getppid, SECCOMP_RET_TRAP, 0);
  syscall(SYS_getppid);
  puts("not reached");
}

static void kills(void) {
  filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0);
  syscall(SYS_getppid);
  puts("not reached");
}

static void is_strict(void) {
  if (write(1, "before\n", 7) != 7) _exit(1);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  if (write(1, "after\n", 6) != 6) _exit(1);
  syscall(SYS_getppid);
  if (write(1, "not reached\n", 12) != 12) _exit(1);
}

// A call that waits is still interrupted by signals.
static void waits(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  filter(SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV, 0);
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  char byte = 0;
  ualarm(20000, 0);
  const ssize_t got = read(ends[0], &byte, 1);
  printf("read %zd errno %d\n", got, errno);
}

static void* ask(void* unused) {
  (void)unused;
  return (void*)(long)(mkdir("/nowhere/at/all", 0700) == 0 ? 0 : errno);
}

static void is_inherited(void) {
  filter(SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV, SECCOMP_FILTER_FLAG_TSYNC);
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, ask, NULL);
  pthread_join(thread, &result);
  printf("thread %ld\n", (long)result);
  if (fork() == 0) _exit((int)(long)ask(NULL));
  int status = 0;
  wait(&status);
  printf("child %d\n", WEXITSTATUS(status));
}

static void is_invalid(void) {
  struct sock_filter endless[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2)};
  struct sock_fprog program = {1, endless};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  printf("invalid %ld errno %d\n", result, errno);
}

// What comes after an exec has the filters of what was before, and may add its own.
static void survives_exec(void) {
  filter(SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV, 0);
  filter(SYS_rmdir, SECCOMP_RET_ERRNO | ENOTUNIQ, 0);
  execl("/no/such/program", "x", (char*)NULL);
  printf("failed exec, errno %d\n", errno);
  execl("/proc/self/exe", "filters", "after exec", (char*)NULL);
}

static int after_exec(void) {
  printf("mode %d\n", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
  printf("mkdir %d errno %d\n", mkdir("/nowhere/at/all", 0700), errno);
  filter(SYS_getppid, SECCOMP_RET_ERRNO | EDOM, 0);
  printf("rmdir %d errno %d\n", rmdir("/nowhere/at/all"), errno);
  printf("getppid %ld errno %d\n", syscall(SYS_getppid), errno);
  printf("next descriptor %d\n", dup(0));
  return 0;
}

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) return after_exec();
  void (*const parts[])(void) = {fails, traps,        traps_unhandled, kills,        is_strict,
                                 waits, is_inherited, is_invalid,      survives_exec};
  setvbuf(stdout, NULL, _IONBF, 0);
  for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    if (fork() == 0) {
      parts[i]();
      _exit(0);
    }
    int status = 0;
    wait(&status);
    printf("part %u: exit %d signal %d\n", i, WEXITSTATUS(status), WTERMSIG(status));
  }
  return 0;
}
