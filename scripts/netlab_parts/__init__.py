"""The parts of scripts/netlab.

Layers, lowest first: fault, kernel, topology, addresses, routing, plan, state; then the commands.
"""
