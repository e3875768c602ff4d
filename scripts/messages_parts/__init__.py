"""The parts of scripts/messages: what a source file can print (sources, c, python, shell), explanations, and the page."""
