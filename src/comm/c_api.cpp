// The C API: nothing thrown gets past guard().

#include <memory>

#include "base/plain.h"
#include "colltopo/colltopo.h"
#include "comm/build_id.h"
#include "comm/call_sizes.h"
#include "comm/comm.h"
#include "transport/lingering.h"

struct colltopo_comm {
  colltopo_comm(int rank, int ranks, const colltopo_callbacks& callbacks) : comm(rank, ranks, callbacks) {}
  colltopo::Comm comm;
};

namespace {

using colltopo::Collective;

static_assert(COLLTOPO_COLLECTIVES == colltopo::k_calls && COLLTOPO_SCATTER == static_cast<int>(Collective::scatter) &&
                  COLLTOPO_NEIGHBORHOOD == static_cast<int>(Collective::neighborhood),
              "COLLTOPO_ numbers are the table's");

thread_local std::string last_error;

// Apart from guard(): the text's array would have the stack of every call guarded.
[[gnu::noinline]] void keep_error(const std::exception& error) noexcept {
  try {
    last_error = colltopo::plain_text(error.what());
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
}

// The value of `body`, or `otherwise` with colltopo_last_error() set.
template <class Result, class Body>
Result guard(Result otherwise, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    keep_error(error);
    return otherwise;
  }
}

// What C knows by its address alone.
colltopo_operation* opaque(colltopo::Operation* operation) { return reinterpret_cast<colltopo_operation*>(operation); }
colltopo::Operation& of(colltopo_operation* operation) { return *reinterpret_cast<colltopo::Operation*>(operation); }
const colltopo::Operation& of(const colltopo_operation* operation) {
  return *reinterpret_cast<const colltopo::Operation*>(operation);
}

int run(colltopo_comm* comm, Collective collective, const colltopo_call* call) noexcept {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] { return comm->comm.run(collective, *call); });
}

}  // namespace

extern "C" {

colltopo_comm* colltopo_comm_create(int rank, int ranks, const colltopo_callbacks* callbacks) {
  if (callbacks == nullptr || rank < 0 || rank >= ranks) return nullptr;
  return guard<colltopo_comm*>(nullptr,
                               [&] { return std::make_unique<colltopo_comm>(rank, ranks, *callbacks).release(); });
}

void colltopo_comm_free(colltopo_comm* comm) { delete comm; }

int colltopo_comm_set(colltopo_comm* comm, const char* name, const char* value) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] {
    comm->comm.set(name, value);
    return static_cast<int>(COLLTOPO_SUCCESS);
  });
}

const colltopo_setting* colltopo_settings(void) {
  return guard<const colltopo_setting*>(nullptr, [] { return colltopo::setting_table().data(); });
}

int colltopo_alltoall(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::alltoall, call); }
int colltopo_allgather(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::allgather, call);
}
int colltopo_reduce_scatter(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::reduce_scatter, call);
}
int colltopo_allreduce(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::allreduce, call);
}
int colltopo_bcast(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::bcast, call); }
int colltopo_reduce(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::reduce, call); }
int colltopo_gather(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::gather, call); }
int colltopo_scatter(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::scatter, call); }
int colltopo_allgatherv(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::allgatherv, call);
}
int colltopo_gatherv(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::gatherv, call); }
int colltopo_scatterv(colltopo_comm* comm, const colltopo_call* call) { return run(comm, Collective::scatterv, call); }
int colltopo_alltoallv(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::alltoallv, call);
}
int colltopo_alltoallw(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::alltoallw, call);
}
int colltopo_neighborhood(colltopo_comm* comm, const colltopo_call* call) {
  return run(comm, Collective::neighborhood, call);
}

int colltopo_neighbors(colltopo_comm* comm, const int* destinations, size_t number) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] {
    comm->comm.set_neighbors({destinations, number});
    return static_cast<int>(COLLTOPO_SUCCESS);
  });
}

int colltopo_run(colltopo_comm* comm, int collective, const colltopo_call* call) {
  return run(comm, static_cast<Collective>(collective), call);
}

int colltopo_serves(colltopo_comm* comm, int collective, const colltopo_call* call) {
  return guard(static_cast<int>(COLLTOPO_INVALID),
               [&] { return comm->comm.serves(static_cast<Collective>(collective), *call) ? 1 : 0; });
}

int colltopo_leave(colltopo_comm* comm, int collective, int how) {
  using Leaving = colltopo::Comm::Leaving;
  const Leaving leaving = (how & COLLTOPO_IN_TURN) != 0   ? Leaving::in_turn
                          : (how & COLLTOPO_AT_ONCE) != 0 ? Leaving::at_once
                                                          : Leaving::blocks;
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] {
    return comm->comm.leave(static_cast<Collective>(collective), leaving, (how & COLLTOPO_AGAIN) != 0);
  });
}

unsigned long long* colltopo_passed_on_count(colltopo_comm* comm) { return comm->comm.passed_on(); }
long long* colltopo_until_look(colltopo_comm* comm) { return comm->comm.until_look(); }

int colltopo_take_turn(colltopo_comm* comm, colltopo_turn* turn) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] {
    comm->comm.take_turn(*turn);
    return static_cast<int>(COLLTOPO_SUCCESS);
  });
}
void colltopo_move_turns(colltopo_comm* comm) { comm->comm.turns().move(); }
int colltopo_turns_to_come(colltopo_comm* comm) { return comm->comm.turns().empty() ? 0 : 1; }
const unsigned* colltopo_turns_taken(colltopo_comm* comm) { return comm->comm.turns().taken(); }

int colltopo_make(colltopo_comm* comm, int collective, const colltopo_call* call, int how,
                  colltopo_operation** operation) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] {
    std::unique_ptr<colltopo::Operation> made;
    const int code = comm->comm.make(static_cast<Collective>(collective), *call, (how & COLLTOPO_IN_TURN) != 0,
                                     (how & COLLTOPO_AGAIN) != 0, &made);
    *operation = opaque(made.release());
    return code;
  });
}
int colltopo_ticks(colltopo_comm* comm, int collective, const colltopo_call* call) {
  const std::size_t bytes = colltopo::decisive_bytes(static_cast<Collective>(collective), *call, comm->comm.ranks());
  return colltopo::Watch::ticks_of(bytes);
}
int colltopo_begin(colltopo_operation* operation, const colltopo_call* call, int tag) {
  return of(operation).comm().begin(of(operation), *call, tag) ? 1 : 0;
}
const int* colltopo_lingering(void) { return colltopo::lingering().number(); }
void colltopo_move_lingering(void) { colltopo::lingering().move(); }
int colltopo_progress(colltopo_operation* operation) { return of(operation).progress() ? 1 : 0; }
void* colltopo_awaited(const colltopo_operation* operation) { return of(operation).awaited(); }
int colltopo_status(const colltopo_operation* operation) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] { return of(operation).status(); });
}
int colltopo_gave_up(const colltopo_operation* operation) { return of(operation).gave_up() ? 1 : 0; }
void colltopo_release(colltopo_operation* operation) {
  of(operation).comm().take_back(std::unique_ptr<colltopo::Operation>(&of(operation)));
}

int colltopo_least(colltopo_comm* comm, long long* value) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] { return comm->comm.least(*value); });
}
int colltopo_gather_numbers(colltopo_comm* comm, int* numbers) {
  return guard(static_cast<int>(COLLTOPO_INVALID), [&] { return comm->comm.gather(numbers); });
}

const unsigned* colltopo_left(const colltopo_comm* comm) { return comm->comm.left(); }

void colltopo_previous_done(colltopo_comm* comm, int collective) {
  guard(0, [&] { return comm->comm.previous_done(static_cast<Collective>(collective)), 0; });
}

const char* colltopo_last_error(void) { return last_error.c_str(); }

const colltopo_counter* colltopo_counters(void) {
  return guard<const colltopo_counter*>(nullptr, [] { return colltopo::counter_table().data(); });
}
unsigned long long colltopo_counter_value(size_t index) {
  return guard(0ULL, [&] { return colltopo::counter_value(index); });
}

size_t colltopo_comm_memory(const colltopo_comm* comm) { return sizeof(*comm) + comm->comm.memory_bytes(); }

const char* colltopo_version(void) { return COLLTOPO_VERSION; }
unsigned long long colltopo_build(void) {
  return guard(0ULL, [] { return static_cast<unsigned long long>(colltopo::build_checksum()); });
}

const char* colltopo_collective_name(int collective) {
  const bool is_one = collective >= 0 && collective < COLLTOPO_COLLECTIVES;
  return is_one ? colltopo::name(static_cast<colltopo::Collective>(collective)).data() : nullptr;
}

}  // extern "C"
