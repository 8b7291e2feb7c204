/* The calls that wait for others or move their data, in C's spelling and in Fortran's. */
#pragma once

/* clang-format off */
#define LOFT_MPI_CALLS(X) \
  X(Abort, abort) X(Send, send) \
  X(Recv, recv) X(Ssend, ssend) X(Bsend, bsend) X(Rsend, rsend) X(Sendrecv, sendrecv) \
  X(Sendrecv_replace, sendrecv_replace) X(Isend, isend) X(Irecv, irecv) X(Issend, issend) \
  X(Ibsend, ibsend) X(Irsend, irsend) X(Send_init, send_init) X(Recv_init, recv_init) \
  X(Ssend_init, ssend_init) X(Bsend_init, bsend_init) X(Rsend_init, rsend_init) X(Start, start) \
  X(Startall, startall) X(Wait, wait) X(Waitall, waitall) X(Waitany, waitany) \
  X(Waitsome, waitsome) X(Test, test) X(Testall, testall) X(Testany, testany) \
  X(Testsome, testsome) X(Probe, probe) X(Iprobe, iprobe) X(Mprobe, mprobe) X(Improbe, improbe) \
  X(Mrecv, mrecv) X(Imrecv, imrecv) X(Cancel, cancel) X(Request_free, request_free) \
  X(Buffer_attach, buffer_attach) X(Buffer_detach, buffer_detach) X(Barrier, barrier) \
  X(Bcast, bcast) X(Gather, gather) X(Gatherv, gatherv) X(Scatter, scatter) X(Scatterv, scatterv) \
  X(Allgather, allgather) X(Allgatherv, allgatherv) X(Alltoall, alltoall) X(Alltoallv, alltoallv) \
  X(Alltoallw, alltoallw) X(Reduce, reduce) X(Allreduce, allreduce) \
  X(Reduce_scatter, reduce_scatter) X(Reduce_scatter_block, reduce_scatter_block) \
  X(Reduce_local, reduce_local) X(Scan, scan) X(Exscan, exscan) X(Ibarrier, ibarrier) \
  X(Ibcast, ibcast) X(Igather, igather) X(Igatherv, igatherv) X(Iscatter, iscatter) \
  X(Iscatterv, iscatterv) X(Iallgather, iallgather) X(Iallgatherv, iallgatherv) \
  X(Ialltoall, ialltoall) X(Ialltoallv, ialltoallv) X(Ialltoallw, ialltoallw) X(Ireduce, ireduce) \
  X(Iallreduce, iallreduce) X(Ireduce_scatter, ireduce_scatter) \
  X(Ireduce_scatter_block, ireduce_scatter_block) X(Iscan, iscan) X(Iexscan, iexscan) \
  X(Neighbor_allgather, neighbor_allgather) X(Neighbor_allgatherv, neighbor_allgatherv) \
  X(Neighbor_alltoall, neighbor_alltoall) X(Neighbor_alltoallv, neighbor_alltoallv) \
  X(Neighbor_alltoallw, neighbor_alltoallw) X(Ineighbor_allgather, ineighbor_allgather) \
  X(Ineighbor_allgatherv, ineighbor_allgatherv) X(Ineighbor_alltoall, ineighbor_alltoall) \
  X(Ineighbor_alltoallv, ineighbor_alltoallv) X(Ineighbor_alltoallw, ineighbor_alltoallw) \
  X(Comm_dup, comm_dup) X(Comm_idup, comm_idup) X(Comm_dup_with_info, comm_dup_with_info) \
  X(Comm_split, comm_split) X(Comm_split_type, comm_split_type) X(Comm_create, comm_create) \
  X(Comm_create_group, comm_create_group) X(Comm_free, comm_free) X(Comm_spawn, comm_spawn) \
  X(Comm_spawn_multiple, comm_spawn_multiple) X(Comm_accept, comm_accept) \
  X(Comm_connect, comm_connect) X(Comm_disconnect, comm_disconnect) \
  X(Intercomm_create, intercomm_create) X(Intercomm_merge, intercomm_merge) \
  X(Cart_create, cart_create) X(Graph_create, graph_create) \
  X(Dist_graph_create, dist_graph_create) \
  X(Dist_graph_create_adjacent, dist_graph_create_adjacent) X(Win_create, win_create) \
  X(Win_allocate, win_allocate) X(Win_allocate_shared, win_allocate_shared) \
  X(Win_create_dynamic, win_create_dynamic) X(Win_free, win_free) X(Win_fence, win_fence) \
  X(Win_start, win_start) X(Win_complete, win_complete) X(Win_post, win_post) \
  X(Win_wait, win_wait) X(Win_test, win_test) X(Win_lock, win_lock) X(Win_unlock, win_unlock) \
  X(Win_lock_all, win_lock_all) X(Win_unlock_all, win_unlock_all) X(Win_flush, win_flush) \
  X(Win_flush_all, win_flush_all) X(Win_flush_local, win_flush_local) \
  X(Win_flush_local_all, win_flush_local_all) X(Win_sync, win_sync) X(Put, put) X(Get, get) \
  X(Accumulate, accumulate) X(Get_accumulate, get_accumulate) X(Fetch_and_op, fetch_and_op) \
  X(Compare_and_swap, compare_and_swap) X(Rput, rput) X(Rget, rget) X(Raccumulate, raccumulate) \
  X(Rget_accumulate, rget_accumulate) X(File_open, file_open) X(File_close, file_close) \
  X(File_read, file_read) X(File_read_all, file_read_all) X(File_read_at, file_read_at) \
  X(File_read_at_all, file_read_at_all) X(File_read_shared, file_read_shared) \
  X(File_read_ordered, file_read_ordered) X(File_write, file_write) \
  X(File_write_all, file_write_all) X(File_write_at, file_write_at) \
  X(File_write_at_all, file_write_at_all) X(File_write_shared, file_write_shared) \
  X(File_write_ordered, file_write_ordered) X(File_iread, file_iread) \
  X(File_iread_at, file_iread_at) X(File_iwrite, file_iwrite) X(File_iwrite_at, file_iwrite_at) \
  X(File_sync, file_sync) X(File_set_view, file_set_view) X(File_set_size, file_set_size) \
  X(File_preallocate, file_preallocate)
/* clang-format on */
