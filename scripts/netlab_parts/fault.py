"""What goes wrong, as one line and an exit status: 1 the network is not as it should be, 2 usage, 77 this machine cannot."""

WRONG = 1
USAGE = 2
CANNOT = 77  # what ctest takes for "skipped"


class Fault(Exception):
    """One line for the user; `status` is the exit status of the command."""

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status
