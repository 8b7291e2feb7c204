#include "engine/runtime/protect.hpp"

#include <sys/mman.h>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMaxPages = 1u << 20;

std::uint64_t* g_pages = nullptr;  // addresses of protected pages; 0 is a free place
std::uint32_t g_count = 0;

std::uint64_t* find_page(std::uint64_t page) {
  for (std::uint32_t i = 0; i < g_count; ++i)
    if (g_pages[i] == page) return &g_pages[i];
  return nullptr;
}

}  // namespace

void protect_code(std::uint64_t start, std::uint64_t end) {
  if (g_pages == nullptr) g_pages = static_cast<std::uint64_t*>(allocate(kMaxPages * sizeof *g_pages));
  for (std::uint64_t page = start & ~(kPage - 1); page < end; page += kPage) {
    if (find_page(page) != nullptr) continue;
    std::uint64_t* place = find_page(0);
    if (place == nullptr && g_count == kMaxPages) stop(Message("the program has more writable code than the engine can guard"));
    if (place == nullptr) place = &g_pages[g_count++];
    *place = page;
    kernel(SYS_mprotect, page, kPage, PROT_READ | PROT_EXEC);
  }
}

bool unprotect_code(std::uint64_t address) {
  const std::uint64_t page = address & ~(kPage - 1);
  std::uint64_t* place = find_page(page);
  if (place == nullptr) return false;
  *place = 0;
  forget_traces(page, page + kPage);
  kernel(SYS_mprotect, page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC);
  return true;
}

void forget_protection(std::uint64_t start, std::uint64_t end) {
  for (std::uint32_t i = 0; i < g_count; ++i)
    if (g_pages[i] >= start && g_pages[i] < end) g_pages[i] = 0;
}

}  // namespace loft::engine
