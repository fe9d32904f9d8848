"""Models for tests: what they answer is a function of the request."""

from evenhand.models.protocol import unheard
from evenhand.models.request import Reply


class Scripted:
    """Answers each request with `reply(request)`: a Reply, or its text. Remembers every call."""

    can = frozenset({"generate", "choose", "see"})
    whole_calls = True

    def __init__(self, reply, name="scripted", at_once=1024, **attributes):
        self.reply = reply
        self.name = self.identity = name
        self.per_call = at_once
        self.calls = []
        self.closed = False
        vars(self).update(attributes)

    def at_once(self, kind):
        return self.per_call

    def answer(self, requests, on_tokens=unheard):
        self.calls.append(list(requests))
        for place, request in enumerate(requests):
            reply = self.reply(request)
            yield place, reply if isinstance(reply, Reply) else Reply(reply)

    def close(self):
        self.closed = True
