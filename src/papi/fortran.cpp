// PAPI's Fortran interface: subroutines over the C functions, in every spelling that compilers use.
// Arguments come by address, the status is the last, lengths of texts stand behind all others, and
// texts are filled up with blanks.
#include <algorithm>
#include <cstring>
#include <string>

#include "papi/functions.h"
#include "papi/interface.h"

namespace {

std::string text_of(const char* text, int length) {
  std::size_t size = length > 0 ? static_cast<std::size_t>(length) : 0;
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\0')) --size;
  return {text, size};
}

void fill(char* to, int room, const char* from) {
  const std::size_t size = room > 0 ? static_cast<std::size_t>(room) : 0;
  const std::size_t length = std::min(size, std::strlen(from));
  std::memcpy(to, from, length);
  std::memset(to + length, ' ', size - length);
}

}  // namespace

// The subroutine under its four names.
#define SUBROUTINE(lower, upper, parameters)                                           \
  extern "C" PAPI_EXPORT void lower##_ parameters;                                     \
  extern "C" PAPI_EXPORT void lower parameters __attribute__((alias(#lower "_")));     \
  extern "C" PAPI_EXPORT void lower##__ parameters __attribute__((alias(#lower "_"))); \
  extern "C" PAPI_EXPORT void upper parameters __attribute__((alias(#lower "_")));     \
  void lower##_ parameters

SUBROUTINE(papif_library_init, PAPIF_LIBRARY_INIT, (int* check)) {
  *check = PAPI_library_init(*check);
}
SUBROUTINE(papif_is_initialized, PAPIF_IS_INITIALIZED, (int* level)) {
  *level = PAPI_is_initialized();
}
SUBROUTINE(papif_shutdown, PAPIF_SHUTDOWN, (void)) { PAPI_shutdown(); }
SUBROUTINE(papif_perror, PAPIF_PERROR, (const char* message, int length)) {
  PAPI_perror(text_of(message, length).c_str());
}
SUBROUTINE(papif_set_debug, PAPIF_SET_DEBUG, (int* level, int* check)) {
  *check = PAPI_set_debug(*level);
}

SUBROUTINE(papif_create_eventset, PAPIF_CREATE_EVENTSET, (int* set, int* check)) {
  *check = PAPI_create_eventset(set);
}
SUBROUTINE(papif_destroy_eventset, PAPIF_DESTROY_EVENTSET, (int* set, int* check)) {
  *check = PAPI_destroy_eventset(set);
}
SUBROUTINE(papif_cleanup_eventset, PAPIF_CLEANUP_EVENTSET, (int* set, int* check)) {
  *check = PAPI_cleanup_eventset(*set);
}
SUBROUTINE(papif_assign_eventset_component, PAPIF_ASSIGN_EVENTSET_COMPONENT,
           (int* set, int* component, int* check)) {
  *check = PAPI_assign_eventset_component(*set, *component);
}
SUBROUTINE(papif_add_event, PAPIF_ADD_EVENT, (int* set, int* code, int* check)) {
  *check = PAPI_add_event(*set, *code);
}
SUBROUTINE(papif_add_named_event, PAPIF_ADD_NAMED_EVENT,
           (int* set, const char* name, int* check, int length)) {
  *check = PAPI_add_named_event(*set, text_of(name, length).c_str());
}
SUBROUTINE(papif_add_events, PAPIF_ADD_EVENTS, (int* set, int* codes, int* count, int* check)) {
  *check = PAPI_add_events(*set, codes, *count);
}
SUBROUTINE(papif_remove_event, PAPIF_REMOVE_EVENT, (int* set, int* code, int* check)) {
  *check = PAPI_remove_event(*set, *code);
}
SUBROUTINE(papif_remove_named_event, PAPIF_REMOVE_NAMED_EVENT,
           (int* set, const char* name, int* check, int length)) {
  *check = PAPI_remove_named_event(*set, text_of(name, length).c_str());
}
SUBROUTINE(papif_remove_events, PAPIF_REMOVE_EVENTS,
           (int* set, int* codes, int* count, int* check)) {
  *check = PAPI_remove_events(*set, codes, *count);
}
SUBROUTINE(papif_list_events, PAPIF_LIST_EVENTS, (int* set, int* codes, int* count, int* check)) {
  *check = PAPI_list_events(*set, codes, count);
}
SUBROUTINE(papif_num_events, PAPIF_NUM_EVENTS, (int* set, int* count)) {
  *count = PAPI_num_events(*set);
}
SUBROUTINE(papif_state, PAPIF_STATE, (int* set, int* status, int* check)) {
  *check = PAPI_state(*set, status);
}

SUBROUTINE(papif_start, PAPIF_START, (int* set, int* check)) { *check = PAPI_start(*set); }
SUBROUTINE(papif_stop, PAPIF_STOP, (int* set, long long* values, int* check)) {
  *check = PAPI_stop(*set, values);
}
SUBROUTINE(papif_read, PAPIF_READ, (int* set, long long* values, int* check)) {
  *check = PAPI_read(*set, values);
}
SUBROUTINE(papif_read_ts, PAPIF_READ_TS,
           (int* set, long long* values, long long* cycles, int* check)) {
  *check = PAPI_read_ts(*set, values, cycles);
}
SUBROUTINE(papif_reset, PAPIF_RESET, (int* set, int* check)) { *check = PAPI_reset(*set); }
SUBROUTINE(papif_accum, PAPIF_ACCUM, (int* set, long long* values, int* check)) {
  *check = PAPI_accum(*set, values);
}
SUBROUTINE(papif_write, PAPIF_WRITE, (int* set, long long* values, int* check)) {
  *check = PAPI_write(*set, values);
}

SUBROUTINE(papif_query_event, PAPIF_QUERY_EVENT, (int* code, int* check)) {
  *check = PAPI_query_event(*code);
}
SUBROUTINE(papif_query_named_event, PAPIF_QUERY_NAMED_EVENT,
           (const char* name, int* check, int length)) {
  *check = PAPI_query_named_event(text_of(name, length).c_str());
}
SUBROUTINE(papif_event_name_to_code, PAPIF_EVENT_NAME_TO_CODE,
           (const char* name, int* code, int* check, int length)) {
  *check = PAPI_event_name_to_code(text_of(name, length).c_str(), code);
}
SUBROUTINE(papif_event_code_to_name, PAPIF_EVENT_CODE_TO_NAME,
           (int* code, char* name, int* check, int room)) {
  char text[PAPI_MAX_STR_LEN] = "";
  *check = PAPI_event_code_to_name(*code, text);
  fill(name, room, text);
}
SUBROUTINE(papif_get_event_info, PAPIF_GET_EVENT_INFO,
           (int* code, char* symbol, char* description, char* short_description, int* count,
            char* note, int* flags, int* check, int symbol_room, int description_room,
            int short_room, int note_room)) {
  PAPI_event_info_t info{};
  *check = PAPI_get_event_info(*code, &info);
  if (*check != PAPI_OK) return;
  fill(symbol, symbol_room, info.symbol);
  fill(description, description_room, info.long_descr);
  fill(short_description, short_room, info.short_descr);
  fill(note, note_room, info.note);
  *count = static_cast<int>(info.count);
  *flags = static_cast<int>(info.event_type);
}
SUBROUTINE(papif_enum_event, PAPIF_ENUM_EVENT, (int* code, int* modifier, int* check)) {
  *check = PAPI_enum_event(code, *modifier);
}

SUBROUTINE(papif_num_hwctrs, PAPIF_num_hwctrs, (int* count)) { *count = PAPI_num_hwctrs(); }
SUBROUTINE(papif_num_cmp_hwctrs, PAPIF_num_cmp_hwctrs, (int* component, int* count)) {
  *count = PAPI_num_cmp_hwctrs(*component);
}
SUBROUTINE(papif_get_real_cyc, PAPIF_GET_REAL_CYC, (long long* cycles)) {
  *cycles = PAPI_get_real_cyc();
}
SUBROUTINE(papif_get_real_usec, PAPIF_GET_REAL_USEC, (long long* time)) {
  *time = PAPI_get_real_usec();
}
SUBROUTINE(papif_get_real_nsec, PAPIF_GET_REAL_NSEC, (long long* time)) {
  *time = PAPI_get_real_nsec();
}
SUBROUTINE(papif_get_virt_cyc, PAPIF_GET_VIRT_CYC, (long long* cycles)) {
  *cycles = PAPI_get_virt_cyc();
}
SUBROUTINE(papif_get_virt_usec, PAPIF_GET_VIRT_USEC, (long long* time)) {
  *time = PAPI_get_virt_usec();
}

SUBROUTINE(papif_thread_init, PAPIF_THREAD_INIT, (unsigned long (*id)(void), int* check)) {
  *check = PAPI_thread_init(id);
}
SUBROUTINE(papif_thread_id, PAPIF_THREAD_ID, (unsigned long* id)) { *id = PAPI_thread_id(); }
SUBROUTINE(papif_register_thread, PAPIF_REGISTER_THREAD, (int* check)) {
  *check = PAPI_register_thread();
}
SUBROUTINE(papif_unregister_thread, PAPIF_UNREGISTER_THREAD, (int* check)) {
  *check = PAPI_unregister_thread();
}
SUBROUTINE(papif_unregster_thread, PAPIF_UNREGSTER_THREAD, (int* check)) {
  *check = PAPI_unregister_thread();
}
SUBROUTINE(papif_lock, PAPIF_LOCK, (int* lock, int* check)) { *check = PAPI_lock(*lock); }
SUBROUTINE(papif_unlock, PAPIF_unlock, (int* lock, int* check)) { *check = PAPI_unlock(*lock); }

SUBROUTINE(papif_multiplex_init, PAPIF_MULTIPLEX_INIT, (int* check)) {
  *check = PAPI_multiplex_init();
}
SUBROUTINE(papif_set_multiplex, PAPIF_SET_MULTIPLEX, (int* set, int* check)) {
  *check = PAPI_set_multiplex(*set);
}
SUBROUTINE(papif_get_multiplex, PAPIF_GET_MULTIPLEX, (int* set, int* check)) {
  *check = PAPI_get_multiplex(*set);
}
SUBROUTINE(papif_set_domain, PAPIF_SET_DOMAIN, (int* domain, int* check)) {
  *check = PAPI_set_domain(*domain);
}
SUBROUTINE(papif_set_cmp_domain, PAPIF_SET_CMP_DOMAIN, (int* domain, int* component, int* check)) {
  *check = PAPI_set_cmp_domain(*domain, *component);
}
SUBROUTINE(papif_set_event_domain, PAPIF_SET_EVENT_DOMAIN, (int* set, int* domain, int* check)) {
  PAPI_option_t option{};
  option.domain.eventset = *set;
  option.domain.domain = *domain;
  *check = PAPI_set_opt(PAPI_DOMAIN, &option);
}
SUBROUTINE(papif_get_domain, PAPIF_GET_DOMAIN, (int* set, int* domain, int* mode, int* check)) {
  PAPI_option_t option{};
  option.domain.eventset = *set;
  *check = PAPI_get_opt(*mode, &option);
  *domain = option.domain.domain;
}
SUBROUTINE(papif_set_granularity, PAPIF_SET_GRANULARITY, (int* granularity, int* check)) {
  *check = PAPI_set_granularity(*granularity);
}
SUBROUTINE(papif_set_cmp_granularity, PAPIF_SET_CMP_GRANULARITY,
           (int* granularity, int* component, int* check)) {
  *check = PAPI_set_cmp_granularity(*granularity, *component);
}
SUBROUTINE(papif_get_granularity, PAPIF_GET_GRANULARITY,
           (int* set, int* granularity, int* mode, int* check)) {
  PAPI_option_t option{};
  option.granularity.eventset = *set;
  *check = PAPI_get_opt(*mode, &option);
  *granularity = option.granularity.granularity;
}
SUBROUTINE(papif_set_inherit, PAPIF_SET_INHERIT, (int* inherit, int* check)) {
  PAPI_option_t option{};
  option.inherit.inherit = *inherit;
  *check = PAPI_set_opt(PAPI_INHERIT, &option);
}
SUBROUTINE(papif_get_clockrate, PAPIF_GET_CLOCKRATE, (int* rate)) {
  *rate = PAPI_get_opt(PAPI_CLOCKRATE, nullptr);
}
SUBROUTINE(papif_get_preload, PAPIF_GET_PRELOAD, (char* variable, int* check, int room)) {
  PAPI_option_t option{};
  *check = PAPI_get_opt(PAPI_PRELOAD, &option);
  if (*check == PAPI_OK) fill(variable, room, option.preload.lib_preload_env);
}

SUBROUTINE(papif_get_hardware_info, PAPIF_GET_HARDWARE_INFO,
           (int* cpus_of_node, int* nodes, int* cpus, int* vendor, char* vendor_name, int* model,
            char* model_name, float* revision, float* mhz, int vendor_room, int model_room)) {
  const PAPI_hw_info_t* info = PAPI_get_hardware_info();
  *cpus_of_node = info == nullptr ? 0 : info->ncpu;
  *nodes = info == nullptr ? 0 : info->nnodes;
  *cpus = info == nullptr ? 0 : info->totalcpus;
  *vendor = info == nullptr ? 0 : info->vendor;
  *model = info == nullptr ? 0 : info->model;
  *revision = info == nullptr ? 0 : info->revision;
  *mhz = info == nullptr ? 0 : info->mhz;
  fill(vendor_name, vendor_room, info == nullptr ? "" : info->vendor_string);
  fill(model_name, model_room, info == nullptr ? "" : info->model_string);
}
SUBROUTINE(papif_get_exe_info, PAPIF_GET_EXE_INFO,
           (char* path, char* name, long long* text_start, long long* text_end,
            long long* data_start, long long* data_end, long long* bss_start, long long* bss_end,
            int* check, int path_room, int name_room)) {
  const PAPI_exe_info_t* info = PAPI_get_executable_info();
  *check = info == nullptr ? PAPI_EINVAL : PAPI_OK;
  if (info == nullptr) return;
  const PAPI_address_map_t& map = info->address_info;
  fill(path, path_room, info->fullname);
  fill(name, name_room, map.name);
  *text_start = reinterpret_cast<long long>(map.text_start);
  *text_end = reinterpret_cast<long long>(map.text_end);
  *data_start = reinterpret_cast<long long>(map.data_start);
  *data_end = reinterpret_cast<long long>(map.data_end);
  *bss_start = reinterpret_cast<long long>(map.bss_start);
  *bss_end = reinterpret_cast<long long>(map.bss_end);
}
SUBROUTINE(papif_get_dmem_info, PAPIF_GET_DMEM_INFO, (long long* values, int* check)) {
  PAPI_dmem_info_t info{};
  *check = PAPI_get_dmem_info(&info);
  std::memcpy(values, &info, sizeof info);
}

SUBROUTINE(papif_hl_region_begin, PAPIF_HL_REGION_BEGIN,
           (const char* name, int* check, int length)) {
  *check = PAPI_hl_region_begin(text_of(name, length).c_str());
}
SUBROUTINE(papif_hl_region_end, PAPIF_HL_REGION_END, (const char* name, int* check, int length)) {
  *check = PAPI_hl_region_end(text_of(name, length).c_str());
}
SUBROUTINE(papif_hl_read, PAPIF_HL_READ, (const char* name, int* check, int length)) {
  *check = PAPI_hl_read(text_of(name, length).c_str());
}
SUBROUTINE(papif_hl_stop, PAPIF_HL_STOP, (int* check)) { *check = PAPI_hl_stop(); }

SUBROUTINE(papif_flops_rate, PAPIF_FLOPS_RATE,
           (int* event, float* real, float* own, long long* count, float* rate, int* check)) {
  *check = PAPI_flops_rate(*event, real, own, count, rate);
}
SUBROUTINE(papif_flips_rate, PAPIF_FLIPS_RATE,
           (int* event, float* real, float* own, long long* count, float* rate, int* check)) {
  *check = PAPI_flips_rate(*event, real, own, count, rate);
}
SUBROUTINE(papif_ipc, PAPIF_IPC,
           (float* real, float* own, long long* count, float* rate, int* check)) {
  *check = PAPI_ipc(real, own, count, rate);
}
SUBROUTINE(papif_epc, PAPIF_EPC,
           (int* event, float* real, float* own, long long* reference, long long* core,
            long long* count, float* rate, int* check)) {
  *check = PAPI_epc(*event, real, own, reference, core, count, rate);
}
SUBROUTINE(papif_rate_stop, PAPIF_RATE_STOP, (int* check)) { *check = PAPI_rate_stop(); }

// There are no devices to tell of.
SUBROUTINE(papif_enum_dev_type, PAPIF_ENUM_DEV_TYPE, (int* type, long long* handle, int* check)) {
  void* found = nullptr;
  *check = PAPI_enum_dev_type(*type, &found);
  *handle = reinterpret_cast<long long>(found);
}
SUBROUTINE(papif_get_dev_type_attr, PAPIF_GET_DEV_TYPE_ATTR,
           (long long* handle, int* attribute, int* value, char*, int* check, int)) {
  *check = PAPI_get_dev_type_attr(reinterpret_cast<void*>(*handle), *attribute, value);
}
SUBROUTINE(papif_get_dev_attr, PAPIF_GET_DEV_ATTR,
           (long long* handle, int* id, int* attribute, int* value, char*, int* check, int)) {
  *check = PAPI_get_dev_attr(reinterpret_cast<void*>(*handle), *id, *attribute, value);
}

extern "C" {

// Libraries with events of their own ask for these; none of theirs are counted here.
PAPI_EXPORT int papi_sde_check_overflow_status(unsigned, long long) { return 0; }
PAPI_EXPORT int papi_sde_set_timer_for_overflow(void) { return 0; }

}  // extern "C"
