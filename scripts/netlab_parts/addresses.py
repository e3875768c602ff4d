"""Who is called what. Route tables are generated against these names, so they are a contract (docs/netlab.md).

Node i has in plane p the address 10.(100+p).(i/256).(i%256)/32 on a device lane<p>; its device into link k is l<k>, the far
end of a one-way link r<k>. The management network mg0 is 172.31.0.0/16.
"""

FIRST_OCTETS = 100
PLANES_MAX = 256 - FIRST_OCTETS
MANAGEMENT = "mg0"
MANAGEMENT_NETWORK = "172.31.0.0/16"
HEAD_ADDRESS = "172.31.255.254"


def lane_address(node, plane):
    return f"10.{FIRST_OCTETS + plane}.{node // 256}.{node % 256}"


def management_address(host):
    return f"172.31.{1 + host // 250}.{1 + host % 250}"


def lane_device(plane):
    return f"lane{plane}"


def link_device(link):
    return f"l{link}"


def receiver_device(link):
    """At the head of a one-way link."""
    return f"r{link}"


def _mac(kind, number):
    return f"02:{kind:02x}:{number >> 24 & 255:02x}:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"


def link_mac(link):
    return _mac(0x4C, link)


def receiver_mac(link):
    return _mac(0x52, link)


def far_mac(graph, link):
    """Of the device at the head of a link."""
    mate = graph.mate[link]
    return receiver_mac(link) if mate is None else link_mac(mate)
