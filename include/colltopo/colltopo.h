/* The C API: what the Open MPI component (coll_topo) and the LD_PRELOAD shim are built on, and all they may include.
 *
 * A colltopo_comm belongs to one rank of one communicator. The caller lends it point-to-point messages by callbacks; it
 * chooses an algorithm, makes a plan, caches it and runs it. Nothing is communicated before the first collective call.
 * One thread at a time may use a colltopo_comm; different ones are independent.
 *
 * No function throws or prints. What is worth saying goes to colltopo_callbacks.say. */
#ifndef COLLTOPO_H
#define COLLTOPO_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colltopo_comm colltopo_comm;

enum {
  COLLTOPO_SUCCESS = 0,
  /* Nobody has communicated: the caller's previous implementation must serve the call, on every rank. */
  COLLTOPO_DECLINED = -1,
  /* Wrong setting or argument; colltopo_last_error() says what. */
  COLLTOPO_INVALID = -2,
  /* colltopo_make only. */
  COLLTOPO_UNKNOWN = -3
  /* Any other value is an error code that a callback returned. */
};

enum {
  COLLTOPO_ALLTOALL,
  COLLTOPO_ALLGATHER,
  COLLTOPO_REDUCE_SCATTER, /* also reduce_scatter_block */
  COLLTOPO_ALLREDUCE,
  COLLTOPO_BCAST,
  COLLTOPO_REDUCE,
  COLLTOPO_GATHER,
  COLLTOPO_SCATTER,
  COLLTOPO_ALLGATHERV,
  COLLTOPO_GATHERV,
  COLLTOPO_SCATTERV,
  COLLTOPO_ALLTOALLV,
  COLLTOPO_ALLTOALLW,
  COLLTOPO_NEIGHBORHOOD, /* neighbor_alltoall, ..v, ..w, neighbor_allgather, ..v */
  COLLTOPO_COLLECTIVES,
  COLLTOPO_AGREEMENT /* for callbacks: messages of colltopo's own, which hold nothing of the caller's data */
};

/* Levels of locality that ranks can be grouped by. */
enum { COLLTOPO_NODE, COLLTOPO_PACKAGE, COLLTOPO_NUMA, COLLTOPO_L3, COLLTOPO_LEVELS };

/* What a rank knows of another one before any message between them. */
enum {
  COLLTOPO_PEER_ALIKE,     /* it takes part, with the same colltopo */
  COLLTOPO_PEER_DIFFERENT, /* it takes part with others like it, and not with this rank */
  COLLTOPO_PEER_ABSENT     /* it does not use colltopo on this communicator */
};
typedef struct colltopo_peer {
  int kind;
  int has_settings;     /* whether it was started with any but `verbose` */
  char difference[160]; /* unless it is alike, who differs and how: "rank 3 on node2 does not have coll/topo" */
} colltopo_peer;

/* Return 0, or the caller's own error code (such as MPI_ERR_TRUNCATE), which colltopo_run hands back. Messages between
 * two ranks must be matched in the order in which they are sent and received; `collective` tells calls apart (for
 * tags): a COLLTOPO_ number, or what an operation was given as its tag. The tag of COLLTOPO_AGREEMENT is to be one that
 * nothing else has on the communicator: a rank that does not use colltopo must not take such a message for data. */
typedef struct colltopo_callbacks {
  void* context;
  /* Nonblocking; *request is NULL on return when the message is done with already. */
  int (*send)(void* context, const void* data, size_t bytes, int peer, int lane, int collective, void** request);
  int (*recv)(void* context, void* data, size_t bytes, int peer, int lane, int collective, void** request);
  /* Sets *request to NULL when complete. */
  int (*test)(void* context, void** request);
  /* Returns when *request has completed, and sets it to NULL; all others move on meanwhile. NULL: tests and progress
   * take turns. */
  int (*wait)(void* context, void** request);
  /* Gives up a request after an error, without waiting. */
  void (*abandon)(void* context, void** request);
  /* Moves communication on. */
  void (*progress)(void* context);
  /* Collective: group_of[rank] becomes a number shared by the ranks of one node, package, ... (a COLLTOPO_ level). A
   * rank that is not bound belongs to its node's first one. NULL: every rank is on one node. */
  int (*locality)(void* context, int level, int* group_of);
  /* Collective: the name of each rank's host, as its network calls it, into names + rank * size, cut to size - 1
   * characters and ended by 0. Used when a topology is set. NULL: names are not known. */
  int (*host_names)(void* context, size_t size, char* names);
  /* One line without newline. level 0: a warning; 1: per communicator and collective; 2: per call. Called on one rank
   * only: on rank 0 for what all ranks know, on the lowest rank that is concerned for anything else. */
  void (*say)(void* context, int level, const char* line);
  /* Not 0: the communicator has settings of its own, which are the same on all ranks. */
  int has_settings;
  /* Not 0: host_names, and locality for COLLTOPO_NODE, communicate with nobody. */
  int places_are_local;
  /* The component that serves a collective when colltopo declines, as its price depends on it: "tuned", "han". Equal on
   * all ranks. NULL: as Open MPI's tuned. */
  const char* (*previous_component)(void* context, int collective);
  /* The same of calls that do not block; NULL: that of the call that does. */
  const char* previous_of_operations;
  /* The MPI library and its version: times of algorithms count where it is the same, another's constants where there
   * are none of it. It must live as long as the communicator. NULL: not known; whatever was measured counts. */
  const char* library;
  /* What lines call the previous implementation, such as "the next component"; NULL: just that. It must live as long
   * as the communicator. */
  const char* previous;
  /* The error code of messages that are colltopo's own (transport ucx), such as MPI_ERR_OTHER; not 0. */
  int transport_error;
  int truncation_error; /* the same for one that is longer than its receiver expects, such as MPI_ERR_TRUNCATE */
  /* What bytes mean here: ranks that give different numbers have other orders or sizes of types, and all of their calls
   * are declined, since messages are bytes. */
  unsigned long long architecture;
  /* Files of schedules or rules have changed, and calls that were declined need not be again: whoever remembers them
   * forgets. NULL: nobody does. */
  void (*replaced)(void* context);
  /* Less an operation's tag, this is one that no call has. 0: there are none such; an operation that needs two tags
   * then has that of another four million away as well. */
  int other_tags;
  /* Looks up a rank, without its help; two ranks that are alike must both find that. Asked at the first call for the
   * few ranks that this one has to agree with. Where one of them is not alike, all calls are declined on all ranks, no
   * message goes to it, and one rank says so. NULL: all are alike. */
  int (*peer)(void* context, int rank, colltopo_peer* peer);
} colltopo_callbacks;

/* NULL when out of memory or arguments are wrong. Costs a few hundred bytes; everything else is made at first use. */
colltopo_comm* colltopo_comm_create(int rank, int ranks, const colltopo_callbacks* callbacks);
void colltopo_comm_free(colltopo_comm* comm);

/* A setting by its name in docs/open-mpi.md ("alltoall_algorithm", "alltoall_radix", "group", "verbose" ...), before
 * the first collective call. All ranks must be given equal settings: they compare them once, at the first call, and
 * decline for ever when they differ. COLLTOPO_INVALID leaves the communicator as it was and makes the collective that
 * the setting is about (all of them, if it is about all) decline for ever, saying so once. */
int colltopo_comm_set(colltopo_comm* comm, const char* name, const char* value);

/* The names of all settings, their defaults and one line about each; NULL after the last. */
typedef struct colltopo_setting {
  const char* name;
  const char* default_value;
  const char* about;
} colltopo_setting;
const colltopo_setting* colltopo_settings(void); /* ended by an entry whose name is NULL */

/* Properties of a reduction that decide which schedules are right for it. All ranks must give equal values. */
enum {
  COLLTOPO_OP_COMMUTATIVE = 1,
  COLLTOPO_OP_ASSOCIATIVE_BITS = 2 /* any order gives the same bits (integers, min and max of integers, logical) */
};

/* Blocks of sizes of their own, one per rank: bytes of each, and where it begins, in bytes from the call's pointer. A
 * side that a rank does not have, or that is its own block alone, is not looked at. Read during the call alone. */
typedef struct colltopo_blocks {
  const size_t *input_bytes, *input_at;   /* alltoallv, alltoallw, neighborhood; scatterv at the root */
  const size_t *output_bytes, *output_at; /* these, allgatherv; gatherv at the root */
} colltopo_blocks;

/* Buffers are contiguous bytes. What decides the algorithm (count * element_size, counts, root, op_properties) must be
 * equal on all ranks; pointers and in_place may differ where MPI lets them. */
typedef struct colltopo_call {
  const void* input; /* not read when in_place */
  void* output;
  int in_place; /* input data is where MPI_IN_PLACE has it in output; scatter, at the root: output is in input */
  size_t count; /* elements per shard (alltoall, allgather, reduce_scatter, gather, scatter) or of the vector */
  const size_t* counts; /* reduce_scatter: elements of each rank's shard; NULL: count each */
  /* The calls that end in v or w, and NULL for others. They give no counts and an element_size of 1; `count` is the
   * bytes of the rank's own block (gatherv, scatterv; as the root's blocks say). allgatherv: output_bytes are equal on
   * all ranks. Others: what one rank sends another is as long as that one says, and nobody else needs to know.
   * alltoallv, alltoallw and neighborhood are never in_place here; allgatherv in place has the rank's block in the
   * output, gatherv and scatterv have the root's. */
  const colltopo_blocks* blocks;
  size_t element_size; /* bytes; chunks are never cut inside an element */
  int root;            /* bcast, reduce, gather, scatter. bcast: the root's data is in `output`, as in MPI_Bcast */
  int op_properties;
  int (*reduce)(void* context, const void* source, void* target, size_t elements); /* target = source op target */
  void* reduce_context;
  /* Not 0: the previous implementation is known to do such calls wrong, and must not be left the choice. Equal on all
   * ranks. */
  int previous_is_wrong;
} colltopo_call;

/* COLLTOPO_SUCCESS, COLLTOPO_DECLINED or a callback's error code. */
int colltopo_alltoall(colltopo_comm* comm, const colltopo_call* call);
int colltopo_allgather(colltopo_comm* comm, const colltopo_call* call);
int colltopo_reduce_scatter(colltopo_comm* comm, const colltopo_call* call);
int colltopo_allreduce(colltopo_comm* comm, const colltopo_call* call);
int colltopo_bcast(colltopo_comm* comm, const colltopo_call* call);
int colltopo_reduce(colltopo_comm* comm, const colltopo_call* call);
int colltopo_gather(colltopo_comm* comm, const colltopo_call* call);
int colltopo_scatter(colltopo_comm* comm, const colltopo_call* call);
int colltopo_allgatherv(colltopo_comm* comm, const colltopo_call* call);
int colltopo_gatherv(colltopo_comm* comm, const colltopo_call* call);
int colltopo_scatterv(colltopo_comm* comm, const colltopo_call* call);
int colltopo_alltoallv(colltopo_comm* comm, const colltopo_call* call);
int colltopo_alltoallw(colltopo_comm* comm, const colltopo_call* call);
/* Blocks as those of an alltoallv. Between two ranks there is one block each way: what several edges of the graph carry
 * follows each other there. */
int colltopo_neighborhood(colltopo_comm* comm, const colltopo_call* call);
/* The ranks to which this one may have blocks in colltopo_neighborhood, before the first such call; not called: all. */
int colltopo_neighbors(colltopo_comm* comm, const int* destinations, size_t number);

/* The same by a collective's number (COLLTOPO_ALLTOALL ...). */
int colltopo_run(colltopo_comm* comm, int collective, const colltopo_call* call);

/* Whether the call would be served (1) or declined (0), for callers that must pack data first; COLLTOPO_INVALID: that
 * could not be found out, and the call has failed on this rank. Otherwise the same on all ranks;
 * collective at a communicator's first call, like the calls themselves. Of `call`, pointers are not looked at. */
int colltopo_serves(colltopo_comm* comm, int collective, const colltopo_call* call);

/* In place of a call that this rank leaves to the previous implementation for a reason that others may not have. In a
 * communicator's first call they wait for it to agree, so it does, and all decline that call; later ones are the
 * others' to serve or not. COLLTOPO_SUCCESS, COLLTOPO_DECLINED if everything is declined for ever, or an error. `how`:
 * COLLTOPO_IN_TURN in a turn, COLLTOPO_AT_ONCE for a call that does not block, otherwise 0; COLLTOPO_AGAIN beside it as
 * for colltopo_make. At once it may be COLLTOPO_UNKNOWN: the call needs a turn. */
int colltopo_leave(colltopo_comm* comm, int collective, int how);

/* How many calls were left to the previous implementation; for a caller that remembers what was declined, and adds one
 * for an equal call: what decides is listed at colltopo_call, and decides the same until `replaced` is called. Holds as
 * long as the communicator. Others may read the number meanwhile, so it is written in one piece (a relaxed atomic
 * store). */
unsigned long long* colltopo_passed_on_count(colltopo_comm* comm);
/* What is left of calls until the ranks look whether files have changed (the setting `watch`). A caller that remembers
 * what was declined takes one off for an equal call that blocks, and one that begins an operation anew what
 * colltopo_ticks says, as colltopo does for all others; where that leaves none it must ask anew, on all ranks for the
 * same call. Holds as long as the communicator. */
long long* colltopo_until_look(colltopo_comm* comm);

/* Calls that do not block: an operation is made for calls of one size, begun with the pointers of one, moved on until
 * it is over, and begun again or released. Any number may be under way.
 *
 * What a call unlike those of late needs before it can begin may take messages (ranks compare their settings, look up a
 * file): that is done in turns, one after the other in the order of the calls. A turn's body is run on a stack of its
 * own by colltopo_move_turns, which comes back when the body waits for a message, and so returns at once; the next call
 * of it, by whatever thread, goes on there. Blocking calls that need to wait for turns call progress() meanwhile. */
typedef struct colltopo_operation colltopo_operation;
typedef struct colltopo_turn {
  void (*body)(void* context);
  void* context;
  struct colltopo_turn* next; /* colltopo's */
} colltopo_turn;
/* By the thread that makes the call, whose turn it is; its body may run before this returns. The turn is the caller's
 * memory, and not looked at any more once its body has begun. COLLTOPO_INVALID: no memory to run it, and it never
 * runs. */
int colltopo_take_turn(colltopo_comm* comm, colltopo_turn* turn);
/* From anywhere but a turn. Does nothing while another thread is at it. */
void colltopo_move_turns(colltopo_comm* comm);
/* Whether any turn is not over yet. */
int colltopo_turns_to_come(colltopo_comm* comm);
/* A number that colltopo_take_turn changes, and the change of a file. While it is as it was when colltopo_make gave an
 * operation out of turn, colltopo_make would give one for an equal call again, so the same operation may be begun anew
 * without asking; and what it declined out of turn it would decline. Holds as long as the communicator; others may
 * write it meanwhile, in one piece. */
const unsigned* colltopo_turns_taken(colltopo_comm* comm);

/* How an operation is made. */
enum {
  COLLTOPO_IN_TURN = 1,
  COLLTOPO_AGAIN = 2,  /* to begin again and again with such a call, and the other ranks wait for it to be made */
  COLLTOPO_AT_ONCE = 4 /* or not at all */
};
/* In a turn (COLLTOPO_IN_TURN), or elsewhere: then COLLTOPO_UNKNOWN if the call would need one, or if others wait for
 * theirs. COLLTOPO_SUCCESS and an operation, COLLTOPO_DECLINED (on all ranks), or COLLTOPO_INVALID. Of `call`, pointers
 * are not looked at. */
int colltopo_make(colltopo_comm* comm, int collective, const colltopo_call* call, int how,
                  colltopo_operation** operation);
/* What a call that begins an operation anew takes off from colltopo_until_look; one that was declined takes off as
 * much.
 */
int colltopo_ticks(colltopo_comm* comm, int collective, const colltopo_call* call);
/* `tag`: in place of the collective's number for the callbacks, the same on all ranks and unlike that of any other
 * operation under way. All that the call points to, reduce_context too, must stay until the operation is over, of
 * which an equal call may begin again. 1: it is over already. Never waits and does not call progress(). */
int colltopo_begin(colltopo_operation* operation, const colltopo_call* call, int tag);
/* The same of the rest. */
int colltopo_progress(colltopo_operation* operation);
/* After either has returned 0: a request of the callbacks without whose completion the next colltopo_progress would do
 * nothing; NULL: there may be something to do. */
void* colltopo_awaited(const colltopo_operation* operation);
/* Of an operation that is over: 0, the error code of a callback, or COLLTOPO_INVALID: this rank could not begin it. */
int colltopo_status(const colltopo_operation* operation);
/* Whether messages were given up after an error, which may still arrive in the call's buffers. */
int colltopo_gave_up(const colltopo_operation* operation);
void colltopo_release(colltopo_operation* operation);
/* Operations by lanes of our own (transport ucx) may be over before all that they have sent is out. While the number
 * behind the pointer, which holds for ever, is not 0, somebody has to call colltopo_move_lingering now and then: it
 * moves on what is left, and never waits. */
const int* colltopo_lingering(void);
void colltopo_move_lingering(void);

/* For bodies of turns, and callbacks that colltopo calls (locality, host_names); collective. The smallest of all ranks'
 * values; and every rank's number, of which this rank's is filled in. 0, COLLTOPO_DECLINED where everything is, or an
 * error code. */
int colltopo_least(colltopo_comm* comm, long long* value);
int colltopo_gather_numbers(colltopo_comm* comm, int* numbers);

/* Trials (the setting `choice`): among the first calls of a class of sizes some are left to the previous implementation
 * to be timed. Bit `collective` of the number behind the pointer, which holds as long as the communicator, is set from
 * the moment that such a call was declined, by colltopo_X or colltopo_serves, until colltopo_previous_done: call it
 * when the previous implementation has served the call, and do not take an equal call for declined. */
const unsigned* colltopo_left(const colltopo_comm* comm);
void colltopo_previous_done(colltopo_comm* comm, int collective);

/* Why the last colltopo_comm_set of this thread failed; "" if none did. */
const char* colltopo_last_error(void);

/* Counters of this process, for MPI_T: "calls", "bytes", "fallbacks", "plan_hits", "messages", "bytes_sent",
 * "messages_between_nodes", "bytes_between_nodes", "messages_on_lanes", "operations", then "calls_ALGORITHM" for each
 * algorithm. Each communicator counts for itself, so counting costs no atomic operation; a value is the sum over all
 * communicators, past ones included. */
typedef struct colltopo_counter {
  const char* name;
  const char* about;
} colltopo_counter;
const colltopo_counter* colltopo_counters(void);         /* ended by an entry whose name is NULL */
unsigned long long colltopo_counter_value(size_t index); /* of the index-th entry; any thread at any time */

/* Bytes of memory that a communicator holds now. */
size_t colltopo_comm_memory(const colltopo_comm* comm);

const char* colltopo_version(void);
/* Of the library that holds this function: differs from build to build. */
unsigned long long colltopo_build(void);

/* As schedule files and parameters have it: "alltoall". NULL: there is no such collective. */
const char* colltopo_collective_name(int collective);

#ifdef __cplusplus
}
#endif

#endif
