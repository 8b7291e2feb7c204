// What PAPI tells of machine, program and component, and options.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/own_alarm.hpp"
#include "papi/event_sets.hpp"
#include "papi/interface.h"
#include "papi/library.hpp"

namespace loft::papi {
namespace {

template <std::size_t Size>
void copy_text(char (&to)[Size], std::string_view text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// The value of the first line "key : value".
std::string value_of(const char* file, std::string_view key) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || !std::string_view(line).starts_with(key)) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

int number_of(const char* file, std::string_view key) {
  return std::atoi(value_of(file, key).c_str());
}

void add_cache(PAPI_mh_info_t& caches, int level, int place, int type, int names[3]) {
  PAPI_mh_cache_info_t& cache = caches.level[level].cache[place];
  const auto ask = [](int name) { return static_cast<int>(std::max(0L, ::sysconf(name))); };
  cache.size = ask(names[0]);
  if (cache.size == 0) return;
  cache.type = type;
  cache.associativity = ask(names[1]);
  cache.line_size = ask(names[2]);
  cache.num_lines = cache.line_size > 0 ? cache.size / cache.line_size : 0;
  caches.levels = std::max(caches.levels, level + 1);
}

void add_caches(PAPI_mh_info_t& caches) {
  enum { kCode = 1, kData = 2, kBoth = 3 };
  int l1i[] = {_SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE};
  int l1d[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE};
  int l2[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE};
  int l3[] = {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE};
  add_cache(caches, 0, 0, kCode, l1i);
  add_cache(caches, 0, 1, kData, l1d);
  add_cache(caches, 1, 0, kBoth, l2);
  add_cache(caches, 2, 0, kBoth, l3);
}

PAPI_hw_info_t make_hardware_info() {
  constexpr const char* kFile = "/proc/cpuinfo";
  PAPI_hw_info_t info{};
  info.totalcpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  const int cores = std::max(1, number_of(kFile, "cpu cores"));
  const int siblings = std::max(1, number_of(kFile, "siblings"));
  info.threads = std::max(1, siblings / cores);
  info.cores = cores;
  info.sockets = std::max(1, info.totalcpus / siblings);
  info.nnodes = 1;
  info.ncpu = info.totalcpus;
  const std::string vendor = value_of(kFile, "vendor_id");
  info.vendor = vendor == "GenuineIntel" ? 1 : vendor == "AuthenticAMD" ? 2 : 0;
  copy_text(info.vendor_string, vendor);
  info.model = number_of(kFile, "model\t");
  copy_text(info.model_string, value_of(kFile, "model name"));
  info.cpuid_family = number_of(kFile, "cpu family");
  info.cpuid_model = info.model;
  info.cpuid_stepping = number_of(kFile, "stepping");
  info.revision = static_cast<float>(info.cpuid_stepping);
  info.mhz = static_cast<float>(std::atof(value_of(kFile, "cpu MHz").c_str()));
  info.cpu_max_mhz = info.cpu_min_mhz = info.clock_mhz = static_cast<int>(info.mhz);
  info.virtualized = value_of(kFile, "flags").find("hypervisor") != std::string::npos ? 1 : 0;
  add_caches(info.mem_hierarchy);
  return info;
}

PAPI_component_info_t make_component_info() {
  PAPI_component_info_t info{};
  const Catalogue& all = catalogue();
  copy_text(info.name, "loft");
  copy_text(info.short_name, "loft");
  copy_text(info.description, "loft's virtual PMU: exact counts in user mode, without hardware");
  copy_text(info.version, "1.0");
  copy_text(info.disabled_reason, all.why_disabled());
  utsname system{};
  if (::uname(&system) == 0) copy_text(info.kernel_version, system.release);
  info.disabled = all.why_disabled().empty() ? PAPI_OK : PAPI_ENOSUPP;
  info.initialized = 1;
  info.num_cntrs = info.disabled == PAPI_OK ? kCounters : 0;
  info.num_mpx_cntrs = info.num_cntrs;
  info.num_preset_events = static_cast<int>(std::ranges::count_if(
      all.presets(), [](const Event& event) { return event.is_available(); }));
  info.num_native_events = info.disabled == PAPI_OK ? static_cast<int>(all.natives().size()) : 0;
  info.default_domain = info.available_domains = PAPI_DOM_USER;
  info.default_granularity = info.available_granularities = PAPI_GRN_THR;
  static char name[] = "loft";
  info.pmu_names[0] = name;
  info.fast_real_timer = 1;
  info.hardware_intr = info.precise_intr = 1;
  info.hardware_intr_sig = engine::OwnAlarm::signal();
  info.attach = info.attach_must_ptrace = info.inherit = 1;
  info.cpu = 0;
  return info;
}

// The mappings of a file: code, then data, then what follows data without a file.
struct Mapped {
  std::string name;
  PAPI_address_map_t map{};
};

void* pointer(unsigned long long address) { return reinterpret_cast<void*>(address); }

std::vector<Mapped> mapped_files() {
  std::vector<Mapped> files;
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    unsigned long long start = 0, end = 0;
    char rights[5] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*s %*s %*s %n", &start, &end, rights, &path_at) <
        3)
      continue;
    const std::string path = static_cast<std::size_t>(path_at) < line.size()
                                 ? line.substr(static_cast<std::size_t>(path_at))
                                 : "";
    if (path.empty() || path.front() != '/') continue;
    if (files.empty() || files.back().name != path) {
      files.push_back({path, {}});
      copy_text(files.back().map.name, path);
    }
    PAPI_address_map_t& map = files.back().map;
    void** first = rights[2] == 'x'   ? &map.text_start
                   : rights[1] == 'w' ? &map.data_start
                                      : nullptr;
    void** last = rights[2] == 'x' ? &map.text_end : &map.data_end;
    if (first == nullptr) continue;
    if (*first == nullptr) *first = pointer(start);
    *last = pointer(end);
  }
  std::erase_if(files, [](const Mapped& file) { return file.map.text_start == nullptr; });
  return files;
}

std::string own_path() {
  char path[PAPI_HUGE_STR_LEN] = {};
  const auto length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT const PAPI_hw_info_t* PAPI_get_hardware_info(void) {
  if (check_started() != PAPI_OK) return nullptr;
  static const PAPI_hw_info_t info = make_hardware_info();
  return &info;
}

PAPI_EXPORT const PAPI_component_info_t* PAPI_get_component_info(int component) {
  if (component != 0) return nullptr;
  static PAPI_component_info_t info;  // what a program has got of it changes with it
  info = make_component_info();
  return &info;
}

PAPI_EXPORT int PAPI_num_components(void) { return 1; }

PAPI_EXPORT int PAPI_get_component_index(const char* name) {
  if (name == nullptr) return PAPI_EINVAL;
  return std::string_view(name) == "loft" ? 0 : PAPI_ENOCMP;
}

PAPI_EXPORT int PAPI_disable_component(int component) {
  if (check_started() == PAPI_OK) return PAPI_ENOINIT;  // only before, says PAPI
  if (component != 0) return PAPI_ENOCMP;
  catalogue().disable();
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_disable_component_by_name(const char* name) {
  const int component = PAPI_get_component_index(name);
  return component < 0 ? component : PAPI_disable_component(component);
}

PAPI_EXPORT int PAPI_num_cmp_hwctrs(int component) {
  const auto* info = PAPI_get_component_info(component);
  return info == nullptr ? PAPI_ENOCMP : info->num_cntrs;
}

PAPI_EXPORT int PAPI_num_hwctrs(void) { return PAPI_num_cmp_hwctrs(0); }

PAPI_EXPORT const PAPI_exe_info_t* PAPI_get_executable_info(void) {
  static PAPI_exe_info_t info;
  const std::string path = own_path();
  copy_text(info.fullname, path);
  for (const Mapped& file : mapped_files())
    if (file.name == path) info.address_info = file.map;
  copy_text(info.address_info.name, path.substr(path.rfind('/') + 1));
  return &info;
}

PAPI_EXPORT const PAPI_shlib_info_t* PAPI_get_shared_lib_info(void) {
  static std::vector<PAPI_address_map_t> maps;
  static PAPI_shlib_info_t info;
  maps.clear();
  const std::string path = own_path();
  for (const Mapped& file : mapped_files())
    if (file.name != path) maps.push_back(file.map);
  info = {maps.data(), static_cast<int>(maps.size())};
  return &info;
}

PAPI_EXPORT int PAPI_get_dmem_info(PAPI_dmem_info_t* info) {
  if (info == nullptr) return PAPI_EINVAL;
  constexpr const char* kFile = "/proc/self/status";
  *info = PAPI_dmem_info_t{};
  info->peak = number_of(kFile, "VmPeak");
  info->size = number_of(kFile, "VmSize");
  info->resident = number_of(kFile, "VmRSS");
  info->high_water_mark = number_of(kFile, "VmHWM");
  info->shared = number_of(kFile, "RssFile");
  info->text = number_of(kFile, "VmExe");
  info->library = number_of(kFile, "VmLib");
  info->heap = number_of(kFile, "VmData");
  info->locked = number_of(kFile, "VmLck");
  info->stack = number_of(kFile, "VmStk");
  info->pte = number_of(kFile, "VmPTE");
  info->pagesize = ::sysconf(_SC_PAGESIZE);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_set_domain(int domain) { return set_domain(domain); }
PAPI_EXPORT int PAPI_set_cmp_domain(int domain, int component) {
  return component == 0 ? set_domain(domain) : PAPI_ENOCMP;
}
PAPI_EXPORT int PAPI_set_granularity(int granularity) { return set_granularity(granularity); }
PAPI_EXPORT int PAPI_set_cmp_granularity(int granularity, int component) {
  return component == 0 ? set_granularity(granularity) : PAPI_ENOCMP;
}

PAPI_EXPORT int PAPI_set_multiplex(int set);
PAPI_EXPORT int PAPI_attach(int set, unsigned long thread);
PAPI_EXPORT int PAPI_detach(int set);
PAPI_EXPORT int PAPI_get_multiplex(int set);

PAPI_EXPORT int PAPI_set_opt(int option, PAPI_option_t* value) {
  if (option != PAPI_DETACH && value == nullptr) return PAPI_EINVAL;
  if (check_started() != PAPI_OK && option != PAPI_DEBUG) return PAPI_ENOINIT;
  switch (option) {
    case PAPI_DEFDOM:
    case PAPI_DOMAIN:
      return set_domain(value->domain.domain);
    case PAPI_DEFGRN:
    case PAPI_GRANUL:
      return set_granularity(value->granularity.granularity);
    case PAPI_MULTIPLEX:
      return PAPI_set_multiplex(value->multiplex.eventset);
    case PAPI_INHERIT: {
      const EventSets::Held set = event_sets().find(value->inherit.eventset);
      return set ? set->set_inherit(value->inherit.inherit != 0) : PAPI_ENOEVST;
    }
    case PAPI_DEBUG:
    case PAPI_DEF_MPX_NS:
    case PAPI_DEF_ITIMER:  // nothing needs the process's timers
    case PAPI_DEF_ITIMER_NS:
      return PAPI_OK;
    case PAPI_ATTACH:
      return PAPI_attach(value->attach.eventset, value->attach.tid);
    case PAPI_DETACH:
      return value == nullptr ? PAPI_EINVAL : PAPI_detach(value->attach.eventset);
    case PAPI_USER_EVENTS_FILE:
      if (value->events_file == nullptr) return PAPI_EINVAL;
      return catalogue().load(value->events_file) ? PAPI_OK : PAPI_EINVAL;
    default:
      return PAPI_EINVAL;
  }
}

PAPI_EXPORT int PAPI_get_cmp_opt(int option, PAPI_option_t* value, int component) {
  if (component != 0) return PAPI_ENOCMP;
  switch (option) {
    case PAPI_MAX_HWCTRS:
    case PAPI_MAX_MPX_CTRS:
      return PAPI_num_cmp_hwctrs(component);
    case PAPI_DEFDOM:
      return PAPI_DOM_USER;
    case PAPI_DEFGRN:
      return PAPI_GRN_THR;
    case PAPI_COMPONENTINFO:
      if (value == nullptr) return PAPI_EINVAL;
      value->cmp_info = const_cast<PAPI_component_info_t*>(PAPI_get_component_info(component));
      return PAPI_OK;
    default:
      return PAPI_EINVAL;
  }
}

PAPI_EXPORT int PAPI_get_opt(int option, PAPI_option_t* value) {
  if (check_started() != PAPI_OK && option != PAPI_LIB_VERSION) return PAPI_ENOINIT;
  const bool needs_value = option == PAPI_HWINFO || option == PAPI_EXEINFO ||
                           option == PAPI_SHLIBINFO || option == PAPI_PRELOAD ||
                           option == PAPI_MULTIPLEX || option == PAPI_DOMAIN ||
                           option == PAPI_GRANUL || option == PAPI_INHERIT;
  if (needs_value && value == nullptr) return PAPI_EINVAL;
  switch (option) {
    case PAPI_CLOCKRATE:
      return static_cast<int>(PAPI_get_hardware_info()->mhz);
    case PAPI_MAX_CPUS:
      return PAPI_get_hardware_info()->ncpu;
    case PAPI_LIB_VERSION:
      return 0x07000000;
    case PAPI_HWINFO:
      value->hw_info = const_cast<PAPI_hw_info_t*>(PAPI_get_hardware_info());
      return PAPI_OK;
    case PAPI_EXEINFO:
      value->exe_info = const_cast<PAPI_exe_info_t*>(PAPI_get_executable_info());
      return PAPI_OK;
    case PAPI_SHLIBINFO:
      value->shlib_info = const_cast<PAPI_shlib_info_t*>(PAPI_get_shared_lib_info());
      return PAPI_OK;
    case PAPI_PRELOAD:
      copy_text(value->preload.lib_preload_env, "LD_PRELOAD");
      value->preload.lib_preload_sep = ' ';
      copy_text(value->preload.lib_dir_env, "LD_LIBRARY_PATH");
      value->preload.lib_dir_sep = ':';
      return PAPI_OK;
    case PAPI_DOMAIN:
      value->domain.domain = PAPI_DOM_USER;
      return PAPI_OK;
    case PAPI_INHERIT: {
      const EventSets::Held set = event_sets().find(value->inherit.eventset);
      if (!set) return PAPI_ENOEVST;
      value->inherit.inherit = set->inherits() ? 1 : 0;
      return PAPI_OK;
    }
    case PAPI_GRANUL:
      value->granularity.granularity = PAPI_GRN_THR;
      return PAPI_OK;
    case PAPI_MULTIPLEX: {
      const int is_multiplexed = PAPI_get_multiplex(value->multiplex.eventset);
      value->multiplex.ns = 0;
      value->multiplex.flags = 0;
      return is_multiplexed;
    }
    default:
      return PAPI_get_cmp_opt(option, value, 0);
  }
}

}  // extern "C"
