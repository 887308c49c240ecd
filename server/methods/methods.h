/* The table of contents: every method of the server. Each is defined in the file of its name. */
#ifndef ALLOTD_METHODS_METHODS_H
#define ALLOTD_METHODS_METHODS_H

#include "rpc/method.h"

extern const struct rpc_method *const all_methods[];
extern const size_t n_all_methods;

extern const struct rpc_method node_register_method, node_verify_method, node_cordon_method, node_uncordon_method,
	node_remove_method, node_list_method, device_update_method, device_list_method;
extern const struct rpc_method pod_filter_method, pod_reserve_method, pod_renew_method, pod_unreserve_method, pod_bind_method,
	pod_release_method, pod_adopt_method, pod_get_method, pod_list_method;
extern const struct rpc_method pod_nominate_method, pod_denominate_method, pod_preempt_method, gang_reserve_method,
	pod_explain_method, nomination_list_method;
extern const struct rpc_method plugin_pending_method, plugin_allocate_method, plugin_confirm_method, plugin_fail_method,
	plugin_reconcile_method;
extern const struct rpc_method lock_acquire_method, lock_release_method, lock_list_method;
extern const struct rpc_method backup_create_method, backup_list_method, backup_read_method, backup_remove_method;
extern const struct rpc_method pod_history_method, device_history_method;
extern const struct rpc_method event_list_method, server_info_method, server_check_method, clock_advance_method;

#endif
