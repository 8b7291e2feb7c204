#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "source/checks/checks.hpp"
#include "source/checks/trial.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// The bpf() call; -errno on failure.
int bpf_call(int command, bpf_attr& attr) {
  const long result = ::syscall(SYS_bpf, command, &attr, sizeof attr);
  return result < 0 ? -errno : static_cast<int>(result);
}

int make_map(std::uint32_t type, std::uint32_t key, std::uint32_t value, std::uint32_t entries) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = entries;
  return bpf_call(BPF_MAP_CREATE, attr);
}

int load(std::uint32_t type, std::span<const bpf_insn> program) {
  static constexpr char kLicense[] = "Dual MIT/GPL";
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.prog_type = type;
  attr.insns = reinterpret_cast<std::uintptr_t>(program.data());
  attr.insn_cnt = static_cast<std::uint32_t>(program.size());
  attr.license = reinterpret_cast<std::uintptr_t>(kLicense);
  return bpf_call(BPF_PROG_LOAD, attr);
}

constexpr bpf_insn instruction(int code, int destination, int source, int offset, int immediate) {
  return {static_cast<__u8>(code), static_cast<__u8>(destination & 15),
          static_cast<__u8>(source & 15), static_cast<__s16>(offset), immediate};
}

// return 0
constexpr std::array kNothing{
    instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
    instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
};

// map[0] += 1, atomically; return 0
std::array<bpf_insn, 11> counting_program(int map) {
  return {{
      instruction(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
      instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
      instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
      instruction(0, 0, 0, 0, 0),
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
      instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
      instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  }};
}

std::string lockdown_word(const SystemRoot& root) {
  const auto line = read_line(root.at("/sys/kernel/security/lockdown"));
  if (!line) return {};
  const auto open = line->find('[');
  const auto close = line->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const std::string mode = line->substr(open + 1, close - open - 1);
  return mode == "none" ? std::string() : ", the kernel is locked down (" + mode + ")";
}

Check refused(std::string id, std::string title, int number, const SystemRoot& root) {
  std::string why = describe_errno(number) + lockdown_word(root);
  std::string fix;
  if (number == EPERM || number == EACCES) {
    const auto level = read_line(root.at("/proc/sys/kernel/unprivileged_bpf_disabled"));
    if (level && ::geteuid() != 0) why += ", unprivileged_bpf_disabled is " + *level;
    fix = "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v loft)\"";
    if (::geteuid() == 0) fix = "give the container CAP_BPF and CAP_PERFMON";
  } else if (number == ENOMEM) {
    fix = "raise the locked memory limit (ulimit -l); kernels before 5.11 charge maps to it";
  } else if (number == ENOSYS) {
    why += ", this kernel has no bpf(), or seccomp hides it";
  }
  return {std::move(id), std::move(title), Status::missing, std::move(why), std::move(fix)};
}

Check loading(const SystemRoot& root) {
  const int raw = load(BPF_PROG_TYPE_SOCKET_FILTER, kNothing);
  if (raw < 0) return refused("bpf", "BPF programs", -raw, root);
  const Fd program(raw);
  return {"bpf", "BPF programs", Status::ok, "a program of two instructions loads", ""};
}

// A program on the scheduler's switch, counted while this thread sleeps once.
Check on_scheduler(const SystemRoot& root) {
  const std::string id = "bpf-scheduler";
  const std::string title = "BPF on the scheduler";
  const int map_raw = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
  if (map_raw < 0) return refused(id, title, -map_raw, root);
  const Fd map(map_raw);
  const int program_raw = load(BPF_PROG_TYPE_RAW_TRACEPOINT, counting_program(map.get()));
  if (program_raw < 0) return refused(id, title, -program_raw, root);
  const Fd program(program_raw);
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.raw_tracepoint.name = reinterpret_cast<std::uintptr_t>("sched_switch");
  attr.raw_tracepoint.prog_fd = static_cast<std::uint32_t>(program.get());
  const int link_raw = bpf_call(BPF_RAW_TRACEPOINT_OPEN, attr);
  if (link_raw < 0) return refused(id, title, -link_raw, root);
  const Fd link(link_raw);
  sleep_a_moment();

  std::uint32_t key = 0;
  std::uint64_t switches = 0;
  std::memset(&attr, 0, sizeof attr);
  attr.map_fd = static_cast<std::uint32_t>(map.get());
  attr.key = reinterpret_cast<std::uintptr_t>(&key);
  attr.value = reinterpret_cast<std::uintptr_t>(&switches);
  const int looked_up = bpf_call(BPF_MAP_LOOKUP_ELEM, attr);
  if (looked_up < 0) return refused(id, title, -looked_up, root);
  if (switches == 0)
    return {id, title, Status::missing, "a program on sched_switch loads but never runs", ""};
  return {id, title, Status::ok, "a program on sched_switch runs", ""};
}

Check ring_buffer(const SystemRoot& root) {
  const int raw = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<std::uint32_t>(::getpagesize()));
  if (raw == -EINVAL)
    return {"bpf-ringbuf", "BPF ring buffer", Status::missing, "EINVAL, this kernel has none",
            "Linux 5.8 or later"};
  if (raw < 0) return refused("bpf-ringbuf", "BPF ring buffer", -raw, root);
  const Fd map(raw);
  return {"bpf-ringbuf", "BPF ring buffer", Status::ok, "can be made", ""};
}

Check type_information(const SystemRoot& root) {
  const std::string path = "/sys/kernel/btf/vmlinux";
  const Fd file(::open(root.at(path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open())
    return {"btf", "kernel type information (BTF)", Status::missing,
            path + ": " + describe_errno(errno), "a kernel built with CONFIG_DEBUG_INFO_BTF"};
  std::uint16_t magic = 0;
  if (::read(file.get(), &magic, sizeof magic) != sizeof magic || magic != 0xEB9F)
    return {"btf", "kernel type information (BTF)", Status::missing, path + " does not hold BTF",
            ""};
  return {"btf", "kernel type information (BTF)", Status::ok, path + " holds it", ""};
}

}  // namespace

std::vector<Check> bpf(const SystemRoot& root) {
  return {loading(root), on_scheduler(root), ring_buffer(root), type_information(root)};
}

}  // namespace loft::source::checks
