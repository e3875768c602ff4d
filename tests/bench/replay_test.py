#!/usr/bin/env python3
"""replay_test.py PROGRAM SERIES: what a policy of choice costs, as colltopo-replay plays it, stays below its bounds.

The bounds of the race are the marks of a good policy with what so few jobs are off by; those of trials say that they get no worse."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SERIES = sys.argv.pop(1), sys.argv.pop(1)
# noise, error of tune: regret in % at 1,000, 10,000 and 100,000 calls, and % of jobs that end more than 5% off
BOUNDS = {
    "race": {("quiet", None): (1.3, 0.2, 0.05, 0.5), ("shared", None): (2.4, 0.8, 0.5, 6), ("noisy", None): (5.5, 2.8, 2.2, 20),
             ("quiet", 0.15): (1.3, 0.3, 0.06, 0.5)},
    "trial": {("quiet", None): (3, 0.6, 0.5, 6), ("shared", None): (4, 1.9, 1.9, 20), ("noisy", None): (7.5, 6.2, 7, 46),
              ("quiet", 0.15): (3.7, 1.7, 1.6, 18)},
}
SERIES_BOUND = (3.3, 1.5, 0.6)  # of the race; an allreduce of 1 KiB on 4 ranks


def play(*arguments):
    job = subprocess.run([PROGRAM, "--json", "--jobs", "60", "--long-jobs", "8", *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=500)
    if job.returncode != 0:
        raise AssertionError(f"{arguments}: status {job.returncode}: {job.stderr}")
    return json.loads(job.stdout)


class Replay(unittest.TestCase):
    def test_regret_is_below_the_bounds(self):
        for policy, bounds in BOUNDS.items():
            told = play("--policy", policy)["results"]
            self.assertEqual({(one["noise"], one["tune_error"]) for one in told}, set(bounds))
            for one in told:
                bound = bounds[one["noise"], one["tune_error"]]
                place = {1000: 0, 10000: 1, 100000: 2}[one["calls"]]
                with self.subTest(policy=policy, **one):
                    self.assertLess(100 * one["regret"], bound[place])
                    self.assertGreater(one["explored"], 0)
                    if place == 2:
                        self.assertLessEqual(100 * one["off"], bound[3])

    def test_a_recorded_series_is_played(self):
        told = play("--policy", "race", "--series", SERIES)["results"]
        self.assertEqual([one["noise"] for one in told], [os.path.basename(SERIES)] * 3)
        for one, bound in zip(told, SERIES_BOUND):
            self.assertLess(100 * one["regret"], bound)

    def test_a_seed_says_all(self):
        one = ("--noise", "shared", "--calls", "1000", "--seed", "7")
        self.assertEqual(play(*one), play(*one))
        self.assertNotEqual(play(*one)["results"], play("--noise", "shared", "--calls", "1000", "--seed", "8")["results"])

    def test_bad_series_are_refused_in_one_line(self):
        for text, said in (("", "fewer than two"), ("a 1 2\nb 1\n", "1 times where the first line has 2"), ("a 1 x\nb 1 2\n", "is no number"),
                           ("a 1 0\nb 1 2\n", "not above 0"), ("a\nb\n", "no times")):
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(text)
                file.flush()
                job = subprocess.run([PROGRAM, "--series", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(job.returncode, 2)
                self.assertIn(said, job.stderr)
                self.assertEqual(job.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
