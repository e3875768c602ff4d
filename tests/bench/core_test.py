#!/usr/bin/env python3
"""core_test.py PROGRAM: colltopo-bench-core on small sizes: its JSON and CSV, and counts that follow from the algorithms."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
WHATS = ["first-call", "new-size", "new-root", "same-size", "two-sizes", "poll", "held", "dup"]


def run(*arguments):
    return subprocess.run([PROGRAM, "--repeat", "1", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=100)


def results(*arguments):
    job = run("--json", *arguments)
    if job.returncode != 0:
        raise AssertionError(f"{arguments}: status {job.returncode}: {job.stderr}")
    return json.loads(job.stdout)["results"]


def one(*arguments):
    result, = results(*arguments)
    return result


class Core(unittest.TestCase):
    def test_every_kind_of_case_gives_the_figures_that_scripts_read(self):
        told = results("--what", "all", "--collective", "alltoall,bcast", "--algorithm", "auto", "--ranks", "2,16", "--calls", "4")
        self.assertEqual({result["what"] for result in told}, set(WHATS))
        for result in told:
            self.assertIn(result["collective"], ("alltoall", "bcast"))
            self.assertIn(result["ranks"], (2, 16))
            self.assertGreater(result["us"], 0)
            self.assertIsInstance(result["bytes"], int)
            if result["what"] != "held":
                self.assertEqual(result["bytes"], 8)
        roots = [result for result in told if result["what"] == "new-root"]
        self.assertEqual({result["collective"] for result in roots}, {"bcast"})

    def test_messages_are_those_of_the_algorithm(self):
        def messages(collective, algorithm, ranks, what="same-size"):
            result = one("--what", what, "--collective", collective, "--algorithm", algorithm, "--ranks", ranks)
            self.assertEqual((result["served"], result["algorithm"]), (True, algorithm.replace("-", "_")))
            return result["messages"]

        self.assertEqual(messages("alltoall", "linear", "16"), 2 * 15)
        self.assertEqual(messages("allreduce", "recursive-doubling", "8"), 2 * 3)
        self.assertEqual(messages("reduce_scatter", "ring", "5"), 2 * 4)
        self.assertEqual(messages("allgather", "ring", "5"), 2 * 4)
        self.assertEqual(messages("bcast", "binomial", "2"), 1)
        self.assertEqual(messages("alltoall", "linear", "16", "poll"), 2 * 15)

    def test_polling_sees_every_message_and_one_completion_per_turn(self):
        result = one("--what", "poll", "--algorithm", "linear", "--ranks", "64")
        self.assertEqual(result["messages"], 2 * 63)
        self.assertGreaterEqual(result["turns"], result["messages"] - 1)
        self.assertGreaterEqual(result["tests"], result["messages"])

    def test_what_is_left_to_others_is_called_declined(self):
        result = one("--what", "same-size", "--algorithm", "fallback")
        self.assertEqual((result["served"], result["algorithm"]), (False, "declined"))

    def test_sizes_in_turn_are_each_with_the_next(self):
        told = results("--what", "two-sizes", "--collective", "allreduce", "--algorithm", "ring", "--ranks", "4", "--bytes", "8,64,4K")
        self.assertEqual([(result["size_bytes"], result["other_size_bytes"]) for result in told], [(8, 64), (64, 4096)])
        for result in told:
            self.assertGreater(result["ratio"], 0)
        self.assertEqual(one("--what", "two-sizes", "--ranks", "4", "--bytes", "24")["other_size_bytes"], 48)

    def test_held_bytes_are_not_the_users(self):
        result = one("--what", "held", "--collective", "bcast", "--algorithm", "binomial", "--ranks", "8", "--bytes", "4G")
        self.assertEqual(result["size_bytes"], 4 << 30)
        self.assertEqual(result["bytes"], max(result["memory_bytes"], result["resident_bytes"]))
        for name in ("bytes", "later_bytes", "peak_bytes"):
            self.assertLess(result[name], 16e6, name)

    def test_scratch_is_given_back_after_the_call(self):
        result = one("--what", "held", "--collective", "allreduce", "--algorithm", "recursive-doubling", "--ranks", "4", "--bytes", "16M")
        self.assertGreaterEqual(result["peak_bytes"], 16 << 20)
        for name in ("memory_bytes", "resident_bytes"):
            self.assertLess(result[name], 5 << 20, name)

    def test_the_same_figures_are_in_the_table_of_commas(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "core.csv")
            told = results("--what", "first-call,held", "--collective", "allreduce", "--ranks", "4", "--csv", path)
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([row["what"] for row in rows], ["first-call", "held"])
        for row, result in zip(rows, told):
            self.assertTrue(math.isclose(float(row["us"]), result["us"], rel_tol=1e-4))
            self.assertEqual(row["served_by"], result["algorithm"])

    def test_settings_reach_the_core(self):
        result = one("--what", "same-size", "--algorithm", "tra", "--set", "alltoall_radix=2", "--ranks", "16")
        self.assertEqual(result["messages"], 2 * 4)
        job = run("--what", "same-size", "--set", "alltoall_radix=1")
        self.assertEqual(job.returncode, 2)
        self.assertIn("alltoall_radix", job.stderr)

    def test_usage_errors_name_the_value(self):
        for arguments, words in ((("--what", "speed"), '"speed" is not one of'), (("--collective", "gossip"), '"gossip" is not one of'),
                                 (("--bytes", "4X"), '"4X" is not a size'), (("--ranks", "0"), '"0" is not a number above 0'),
                                 (("--what", "new-root"), "needs a collective that has a root"), (("--set", "group"), "name=value")):
            job = run(*arguments)
            self.assertEqual((job.returncode, job.stdout), (2, ""), arguments)
            self.assertIn(words, job.stderr)
        self.assertEqual(run("--marks", "--what", "poll").returncode, 2)


unittest.main()
