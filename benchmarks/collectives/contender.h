// A way to run a collective: an algorithm of coll/topo, what coll/topo chooses by itself, or Open MPI without it. Each
// contender is a duplicate of MPI_COMM_WORLD, or of its graph, whose info keys ask for it, so that several take turns
// in one process.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "caller.h"
#include "exchange.h"
#include "probe/counters.h"

namespace colltopo::bench {

/// Which module must serve the calls.
enum class Server { topo, previous, either };

class Contender {
 public:
  /// `text`: NAME or NAME:option=value:option=value, or file:PATH; NAME is an algorithm, auto, fallback, native or set.
  /// May end in a form, @nonblocking or @persistent. `pace`: coll_topo_pace, where coll/topo is asked;
  /// empty: as set otherwise. `spread`: whose neighbourhoods are the graph, where the kind has one. Collective over
  /// MPI_COMM_WORLD. Throws std::invalid_argument, alike on all ranks.
  Contender(const std::string& text, Kind kind, const std::string& pace = {}, Spread spread = Spread::equal);
  ~Contender();
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  const std::string& name() const { return name_; }
  MPI_Comm comm() const { return comm_; }
  Server server() const { return server_; }
  Form form() const { return form_; }

  /// Another communicator asking for the same; the caller frees it.
  MPI_Comm duplicate() const;

 private:
  struct InfoKey {
    std::string key;
    std::string value;
  };

  std::string name_;
  Server server_ = Server::topo;
  Form form_ = Form::blocking;
  std::vector<InfoKey> keys_;
  MPI_Comm graph_ = MPI_COMM_NULL;  // null: none
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Who served the calls that this process made between two moments, by coll/topo's own counters.
struct Served {
  unsigned long long by_topo = 0;
  unsigned long long plan_hits = 0;
  unsigned long long messages = 0;
  unsigned long long messages_between_nodes = 0;  // of these
  std::string algorithm;                          // of coll/topo that served most of them; empty when none did
};

class ServedSince {
 public:
  explicit ServedSince(const Counters& counters) : counters_(counters), before_(counters.values()) {}
  Served now() const;

 private:
  const Counters& counters_;
  std::map<std::string, unsigned long long> before_;
};

/// Empty when the right module served `calls` calls on this rank; otherwise what happened instead.
std::string complaint(const Contender& contender, const Served& served, unsigned long long calls, int ranks);

}  // namespace colltopo::bench
