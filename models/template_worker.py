"""The program of a process of its own in which chat templates are rendered, for `chat_templates`.

It is run as a text, knows nothing but the standard library and Jinja, and answers each line of JSON by one. What a
template takes of time and memory ends with this process.
"""

import contextlib
import json
import signal
import sys
from datetime import datetime
from functools import lru_cache

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """{% generation %}…{% endgeneration %}, which marks what trainers learn from, and changes nothing."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def tojson(value: object, ensure_ascii=False, indent=None, separators=None, sort_keys=False) -> str:  # type: ignore[no-untyped-def]
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message: str) -> None:
    raise TemplateError(message)


@lru_cache(maxsize=8)
def compiled(template: str) -> Template:
    """In the surroundings that transformers gives to templates."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda format: datetime.now().strftime(format)
    return environment.from_string(template)


def answer(template: str, variables: dict[str, object], most: int) -> dict[str, str]:
    """{"text": …}, or why there is none: {"broken": …}, {"refused": …}, or {"exploded": …}. most: characters."""
    pieces = []
    length = 0
    try:
        for piece in compiled(template).generate(**variables):
            length += len(piece)
            if length > most:
                return {"exploded": f"it writes more than {most:,} characters"}
            pieces.append(piece)
    except TemplateSyntaxError as error:
        return {"broken": str(error)}
    except (MemoryError, RecursionError):
        return {"exploded": "it takes too much memory"}
    except Exception as error:  # a template may do what raises anything
        return {"refused": str(error) or type(error).__name__}
    return {"text": "".join(pieces)}


def main(seconds: int, memory: int) -> None:
    """seconds: for one prompt; memory: bytes in all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for line in sys.stdin:
        if hasattr(signal, "alarm"):
            signal.alarm(seconds)  # which ends this process, even if nobody waits for it any more
        asked = json.loads(line)
        said = answer(asked["template"], asked["variables"], asked["most"])
        print(json.dumps(said), flush=True)
        if hasattr(signal, "alarm"):
            signal.alarm(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
