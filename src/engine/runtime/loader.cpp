#include "engine/runtime/loader.hpp"

#include <elf.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/mman.h>

#include <cstring>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/stop.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMaxHeaders = 64;

std::uint64_t page_down(std::uint64_t value) { return value & ~(kPage - 1); }
std::uint64_t page_up(std::uint64_t value) { return page_down(value + kPage - 1); }

[[noreturn]] void refuse(const char* path, const char* why) {
  stop(Message("cannot load ").add(path).add(": ").add(why));
}

// One ELF file on its way into memory.
struct Image {
  const char* path;
  std::uint64_t file;
  Elf64_Ehdr header;
  Elf64_Phdr segments[kMaxHeaders];
  std::uint64_t bias;
};

void read_at(const Image& image, void* to, std::uint64_t bytes, std::uint64_t offset) {
  if (kernel(SYS_pread64, image.file, word(to), bytes, offset) != static_cast<long>(bytes))
    refuse(image.path, "it is cut off");
}

void open_image(Image& image, const char* path) {
  image.path = path;
  const long file = kernel(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
  if (is_error(file)) refuse(path, "it cannot be opened");
  image.file = static_cast<std::uint64_t>(file);
  read_at(image, &image.header, sizeof image.header, 0);
  const Elf64_Ehdr& header = image.header;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
    refuse(path, "it is not a 64-bit x86 program");
  if (header.e_phnum == 0 || header.e_phnum > kMaxHeaders ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    refuse(path, "its program headers are not usable");
  read_at(image, image.segments, header.e_phnum * sizeof(Elf64_Phdr), header.e_phoff);
}

int protection_of(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// Reserves the whole range of the image, so that its parts keep their distances.
void reserve_image(Image& image) {
  std::uint64_t low = ~0ull;
  std::uint64_t high = 0;
  std::uint64_t alignment = kPage;
  for (int i = 0; i < image.header.e_phnum; ++i) {
    const Elf64_Phdr& segment = image.segments[i];
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_memsz < segment.p_filesz || segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
      refuse(image.path, "a segment has an impossible size");
    if (page_down(segment.p_vaddr) < low) low = page_down(segment.p_vaddr);
    if (page_up(segment.p_vaddr + segment.p_memsz) > high)
      high = page_up(segment.p_vaddr + segment.p_memsz);
    if (segment.p_align > alignment && segment.p_align <= (1u << 30)) alignment = segment.p_align;
  }
  if (low >= high) refuse(image.path, "it has no segment to load");
  const bool fixed = image.header.e_type == ET_EXEC;
  const std::uint64_t room = high - low + (fixed ? 0 : alignment - kPage);
  const long memory = kernel(
      SYS_mmap, fixed ? low : 0, room, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0), ~0ull, 0);
  if (is_error(memory) || (fixed && static_cast<std::uint64_t>(memory) != low))
    refuse(image.path, "the addresses it must have are taken");
  const std::uint64_t base =
      (static_cast<std::uint64_t>(memory) + alignment - 1) & ~(alignment - 1);
  image.bias = fixed ? 0 : base - low;
}

void map_segment(const Image& image, const Elf64_Phdr& segment) {
  const std::uint64_t start = page_down(image.bias + segment.p_vaddr);
  const std::uint64_t file_end = image.bias + segment.p_vaddr + segment.p_filesz;
  const std::uint64_t end = image.bias + segment.p_vaddr + segment.p_memsz;
  const auto protection = static_cast<std::uint64_t>(protection_of(segment));
  if (segment.p_filesz != 0) {
    const long memory = kernel(SYS_mmap, start, file_end - start, protection,
                               MAP_PRIVATE | MAP_FIXED, image.file, page_down(segment.p_offset));
    if (is_error(memory)) refuse(image.path, "a segment cannot be mapped");
  }
  const std::uint64_t zero_start = segment.p_filesz == 0 ? start : page_up(file_end);
  // Up to the end of the page: loaders take the rest of it for their first heap.
  if (end > file_end && (segment.p_flags & PF_W) != 0 && segment.p_filesz != 0)
    std::memset(reinterpret_cast<void*>(file_end), 0, zero_start - file_end);
  if (end > zero_start) {
    const long memory = kernel(SYS_mmap, zero_start, page_up(end) - zero_start, protection,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~0ull, 0);
    if (is_error(memory)) refuse(image.path, "its zeroed memory cannot be mapped");
  }
}

void map_image(Image& image) {
  reserve_image(image);
  for (int i = 0; i < image.header.e_phnum; ++i)
    if (image.segments[i].p_type == PT_LOAD) map_segment(image, image.segments[i]);
  kernel(SYS_close, image.file);
}

// Where the program headers are in memory: the kernel looks for the segment that holds them.
std::uint64_t address_of_headers(const Image& image) {
  for (int i = 0; i < image.header.e_phnum; ++i) {
    const Elf64_Phdr& segment = image.segments[i];
    if (segment.p_type == PT_LOAD && image.header.e_phoff >= segment.p_offset &&
        image.header.e_phoff < segment.p_offset + segment.p_filesz)
      return image.bias + segment.p_vaddr + image.header.e_phoff - segment.p_offset;
  }
  return 0;
}

}  // namespace

LoadedProgram load_program(const char* path) {
  Image program{};
  open_image(program, path);
  char interpreter_path[PATH_MAX] = {};
  LoadedProgram loaded{};
  for (int i = 0; i < program.header.e_phnum; ++i) {
    const Elf64_Phdr& segment = program.segments[i];
    if (segment.p_type == PT_GNU_STACK) loaded.executable_stack = (segment.p_flags & PF_X) != 0;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz > sizeof interpreter_path)
      refuse(path, "its interpreter's name is too long");
    read_at(program, interpreter_path, segment.p_filesz, segment.p_offset);
    interpreter_path[segment.p_filesz - 1] = '\0';
  }
  map_image(program);
  loaded.entry = program.bias + program.header.e_entry;
  loaded.headers = address_of_headers(program);
  loaded.header_size = sizeof(Elf64_Phdr);
  loaded.header_count = program.header.e_phnum;
  loaded.start = loaded.entry;
  if (interpreter_path[0] != '\0') {
    Image interpreter{};
    open_image(interpreter, interpreter_path);
    map_image(interpreter);
    loaded.interpreter = interpreter.bias;
    loaded.start = interpreter.bias + interpreter.header.e_entry;
  }
  return loaded;
}

}  // namespace loft::engine::runtime
