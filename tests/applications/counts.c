/* Preloaded into somebody else's program: what coll/topo counted in this process between MPI_Init and MPI_Finalize goes
 * into the file $COLLTOPO_COUNTS.RANK, a line "calls 12" per variable.
 *
 * Open MPI's Fortran calls go past the C ones, so these are met by their own names. No library of Fortran is linked: a
 * program that has none does not load one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 256, longest = 128 };

static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
static MPI_T_pvar_handle handles[most];
static char names[most][longest];
static int counters;

/* A handle counts from when it is allocated. */
static void begin(void) {
  static const char prefix[] = "coll_topo_";
  int provided, variables = 0;

  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_num(&variables);
  for (int i = 0; i < variables && counters < most; ++i) {
    char name[longest] = "";
    int name_length = longest, no_description = 0, verbosity, class, bound_to, readonly, continuous, atomic, count;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &values, NULL, &no_description, &bound_to,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || type != MPI_UNSIGNED_LONG_LONG ||
        bound_to != MPI_T_BIND_NO_OBJECT)
      continue;
    if (MPI_T_pvar_handle_alloc(session, i, NULL, &handles[counters], &count) != MPI_SUCCESS || count != 1) continue;
    strcpy(names[counters++], name + strlen(prefix));
  }
}

/* Open MPI 4.1.4 crashes in an MPI_T_finalize that comes after MPI_Finalize. */
static void end(void) {
  const char* path = getenv("COLLTOPO_COUNTS");
  char file_name[4096];
  FILE* file;
  int rank;

  if (session == MPI_T_PVAR_SESSION_NULL) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(file_name, sizeof file_name, "%s.%d", path == NULL ? "counts" : path, rank);
  if ((file = fopen(file_name, "w")) != NULL) {
    for (int i = 0; i < counters; ++i) {
      unsigned long long value = 0;
      MPI_T_pvar_read(session, handles[i], &value);
      fprintf(file, "%s %llu\n", names[i], value);
    }
    fclose(file);
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}

#pragma GCC visibility push(default)

int MPI_Init(int* argc, char*** argv) {
  int code = PMPI_Init(argc, argv);
  begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int code = PMPI_Init_thread(argc, argv, required, provided);
  begin();
  return code;
}

int MPI_Finalize(void) {
  end();
  return PMPI_Finalize();
}

typedef void (*fortran_call)(MPI_Fint* code);
typedef void (*fortran_thread_call)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* code);

void mpi_init_(MPI_Fint* code);
void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* code);
void mpi_finalize_(MPI_Fint* code);

void mpi_init_(MPI_Fint* code) {
  ((fortran_call)dlsym(RTLD_NEXT, "mpi_init_"))(code);
  begin();
}

void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* code) {
  ((fortran_thread_call)dlsym(RTLD_NEXT, "mpi_init_thread_"))(required, provided, code);
  begin();
}

void mpi_finalize_(MPI_Fint* code) {
  end();
  ((fortran_call)dlsym(RTLD_NEXT, "mpi_finalize_"))(code);
}
