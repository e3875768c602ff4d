"""What the demo measures."""
from dataclasses import dataclass

TOPOLOGY = "torus:4x4"
HOSTS = 16
VARIABLE = "OMPI_MCA_coll_topo_alltoall_algorithm"

# Of a full Ethernet frame (1514 bytes as the shaper counts) TCP without time stamps carries 1460.
PAYLOAD = 1460 / 1514


@dataclass(frozen=True)
class Size:
    """Links are slow and messages large, so that even one processor for sixteen hosts is not what limits."""

    rate_mbit: int
    side: int  # of the grid
    iterations: int
    limit_s: int  # of all jobs; a machine with two cores that are free needs a sixth of it

    @property
    def grid(self):
        return f"{self.side}x{self.side}x{self.side}"

    @property
    def shard(self):
        """Bytes from each rank to each other in one exchange of the transform: complex numbers of 16 bytes, in slabs."""
        return self.side**3 * 16 // HOSTS**2


LONG = Size(rate_mbit=16, side=96, iterations=3, limit_s=300)
SHORT = Size(rate_mbit=10, side=64, iterations=2, limit_s=300)
