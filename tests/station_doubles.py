"""A simulation that only notes what it is told."""


class NotedSimulation:
    def __init__(self):
        self.orders, self.commands, self.waiting = [], [], []
        self.latest = None

    def order(self, order):
        self.orders.append(order)

    def command(self, sample):
        self.commands.append(sample)

    def state(self):
        return self.latest

    def reports(self):
        waiting, self.waiting = self.waiting, []
        yield from waiting

    def close(self):
        return []
