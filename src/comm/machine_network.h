// The machine's network as the setting `topology` names it, and where the ranks of a communicator are in it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "colltopo/node_network.h"
#include "colltopo/placement.h"
#include "colltopo/topology.h"

namespace colltopo {

/// A topology file's or a spec's topology; read once per process. Throws Error.
std::shared_ptr<const Topology> machine_network(const std::string& text);
/// The same; a file is read again if it is not what was read.
std::shared_ptr<const Topology> machine_network_now(const std::string& text);

/// What it says of the machine; looked for when it is read, so that a communicator more costs nothing. Throws Error.
LinkConstants machine_links(const std::string& text);

/// Its links between these hosts, [node] host; kept for communicators to come. Null where two of them cannot reach each
/// other: what needs paths says so itself.
std::shared_ptr<const NodeNetwork> node_network(const std::shared_ptr<const Topology>& network,
                                                const std::vector<NodeId>& host_of);

/// Ranks that are on hosts of a network. Where every host has some, nodes are numbered as their hosts, for that is how
/// `sides` count, which hold only where they have as many places as there are nodes. `node_of`, `host_of`: [rank];
/// `host_of` empty: nobody knows who is on which host, or of no network at all.
Placement placement_on(const std::shared_ptr<const Topology>& network, std::vector<int> node_of,
                       std::span<const NodeId> host_of, const std::vector<int>& sides);

/// Of the text of a topology file, or of a spec; 0 when there is none. Read with the topology, once per process.
long long machine_checksum(const std::string& text);

/// Names of hosts in the topology's order: the setting `hosts`, a file with one name per line (as a host file of
/// mpirun: what follows the name is not looked at) or a list "node1,node2". Throws Error naming the file.
std::vector<std::string> listed_hosts(const std::string& setting);

/// [rank] host of the network. `host_names`: [rank] what ranks call their hosts; `listed`: the setting `hosts`, if any.
///
/// Ranks meet hosts by name: by those listed, or by those in the topology. A topology that names no host of this job (a
/// spec) is met in order, if the job has as many hosts: the host of rank 0 is its host 0, the next new one host 1.
/// Nothing if neither fits; *why says so in words.
std::optional<std::vector<NodeId>> hosts_of_ranks(const Topology& network, std::span<const std::string> listed,
                                                  std::span<const std::string> host_names, std::string* why);

/// The network's text with the modifier that with_ranks() stands for: "torus:3x3/ranks:2,1*8". For people and for the
/// command that makes a schedule.
std::string with_ranks_text(const std::string& network, std::span<const int> ranks_on);

}  // namespace colltopo
