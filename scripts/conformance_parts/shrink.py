"""The shortest case of a failure: fewer operations, ranks, bytes and parameters, as long as it still fails."""
import dataclasses


class Shrink:
    """`fails(setting, ranks, only, more)` runs one job; what it says of the last failure is in `last`."""

    def __init__(self, jobs, setting, ranks, seed, more=(), seconds=60, say=lambda text: None):
        self.jobs, self.setting, self.ranks, self.seed = jobs, setting, ranks, seed
        self.more, self.seconds, self.say = list(more), seconds, say
        self.last, self.runs = None, 0

    def fails(self, only, setting=None, ranks=None, more=None):
        self.runs += 1
        arguments = ["--seed", str(self.seed), "--only", spans(only), "--patience", str(max(self.seconds // 3, 5)),
                     *(self.more if more is None else more)]
        outcome = self.jobs.run(setting or self.setting, ranks or self.ranks, arguments, self.seconds)
        if outcome.good:
            return False
        self.last = outcome
        return True

    def operations(self, last):
        """The operations that are needed: the last alone, or what is left when halves, quarters ... are taken away."""
        if self.fails([last]):
            return [last]
        wanted, parts = list(range(last + 1)), 2
        if not self.fails(wanted):
            return []
        while len(wanted) > 1 and parts <= len(wanted):
            size = -(-len(wanted) // parts)
            for begin in range(0, len(wanted), size):
                rest = wanted[:begin] + wanted[begin + size:]
                if rest and self.fails(rest):
                    wanted, parts = rest, max(parts - 1, 2)
                    break
            else:
                if size == 1:
                    break
                parts = min(2 * parts, len(wanted))
            self.say(f"{len(wanted)} operations left")
        return wanted

    def all(self, last):
        """(operations, setting, ranks, arguments) of the shortest case that was found; no operations: it did not fail again."""
        only = self.operations(last)
        if not only:
            return only, self.setting, self.ranks, self.more
        for ranks in [r for r in range(1, self.ranks) if not self.setting.ranks or r in self.setting.ranks]:
            if self.fails(only, ranks=ranks):
                self.ranks = ranks
                break
        for size in (64, 1024, 16384):
            fewer = [str(size) if before == "--bytes" else word for before, word in zip([""] + self.more, self.more)]
            if self.fails(only, more=fewer):
                self.more = fewer
                break
        for name in list(self.setting.parameters):
            rest = dict(self.setting.parameters)
            del rest[name]
            simpler = dataclasses.replace(self.setting, parameters=rest)
            if self.fails(only, setting=simpler):
                self.setting = simpler
        if self.setting.nodes > 1 and not self.setting.prepare and "topology" not in self.setting.parameters:
            simpler = dataclasses.replace(self.setting, nodes=1)
            if self.fails(only, setting=simpler):
                self.setting = simpler
        return only, self.setting, self.ranks, self.more


def spans(numbers):
    """[1, 2, 3, 7] as 1-3,7."""
    text, begin = [], None
    for i, number in enumerate(numbers):
        begin = number if begin is None else begin
        if i + 1 == len(numbers) or numbers[i + 1] != number + 1:
            text.append(str(begin) if begin == number else f"{begin}-{number}")
            begin = None
    return ",".join(text)
