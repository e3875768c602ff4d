"""The parts of scripts/demo, one thing per file: the torus (torus, jobs, report, chart), and the nodes for machines without namespaces."""
