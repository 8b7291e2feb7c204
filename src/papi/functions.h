/* PAPI's functions, for files of this library that call each other through them. */
#ifndef LOFT_PAPI_FUNCTIONS_H
#define LOFT_PAPI_FUNCTIONS_H

#include "papi/interface.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

int PAPI_library_init(int version);
int PAPI_is_initialized(void);
void PAPI_shutdown(void);
void PAPI_perror(const char* text);
int PAPI_set_debug(int level);

int PAPI_create_eventset(int* set);
int PAPI_destroy_eventset(int* set);
int PAPI_cleanup_eventset(int set);
int PAPI_assign_eventset_component(int set, int component);
int PAPI_add_event(int set, int code);
int PAPI_add_named_event(int set, const char* name);
int PAPI_add_events(int set, int* codes, int count);
int PAPI_remove_event(int set, int code);
int PAPI_remove_named_event(int set, const char* name);
int PAPI_remove_events(int set, int* codes, int count);
int PAPI_list_events(int set, int* codes, int* count);
int PAPI_num_events(int set);
int PAPI_state(int set, int* status);
int PAPI_start(int set);
int PAPI_stop(int set, long long* values);
int PAPI_read(int set, long long* values);
int PAPI_read_ts(int set, long long* values, long long* cycles);
int PAPI_reset(int set);
int PAPI_accum(int set, long long* values);
int PAPI_write(int set, long long* values);

int PAPI_query_event(int code);
int PAPI_query_named_event(const char* name);
int PAPI_event_name_to_code(const char* name, int* code);
int PAPI_event_code_to_name(int code, char* name);
int PAPI_get_event_info(int code, PAPI_event_info_t* info);
int PAPI_enum_event(int* code, int modifier);

int PAPI_num_hwctrs(void);
int PAPI_num_cmp_hwctrs(int component);
long long PAPI_get_real_cyc(void);
long long PAPI_get_real_usec(void);
long long PAPI_get_real_nsec(void);
long long PAPI_get_virt_cyc(void);
long long PAPI_get_virt_usec(void);
long long PAPI_get_virt_nsec(void);

int PAPI_thread_init(unsigned long (*id)(void));
unsigned long PAPI_thread_id(void);
int PAPI_register_thread(void);
int PAPI_unregister_thread(void);
int PAPI_lock(int lock);
int PAPI_unlock(int lock);

int PAPI_multiplex_init(void);
int PAPI_set_multiplex(int set);
int PAPI_get_multiplex(int set);
int PAPI_set_domain(int domain);
int PAPI_set_cmp_domain(int domain, int component);
int PAPI_set_granularity(int granularity);
int PAPI_set_cmp_granularity(int granularity, int component);
int PAPI_set_opt(int option, PAPI_option_t* value);
int PAPI_get_opt(int option, PAPI_option_t* value);

const PAPI_hw_info_t* PAPI_get_hardware_info(void);
const PAPI_exe_info_t* PAPI_get_executable_info(void);
int PAPI_get_dmem_info(PAPI_dmem_info_t* info);

int PAPI_hl_region_begin(const char* region);
int PAPI_hl_region_end(const char* region);
int PAPI_hl_read(const char* region);
int PAPI_hl_stop(void);
int PAPI_flops_rate(int event, float* real, float* own, long long* count, float* rate);
int PAPI_flips_rate(int event, float* real, float* own, long long* count, float* rate);
int PAPI_ipc(float* real, float* own, long long* count, float* rate);
int PAPI_epc(int event, float* real, float* own, long long* reference, long long* core,
             long long* count, float* rate);
int PAPI_rate_stop(void);
int PAPI_enum_dev_type(int type, void** handle);
int PAPI_get_dev_type_attr(void* handle, int attribute, void* value);
int PAPI_get_dev_attr(void* handle, int id, int attribute, void* value);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
