"""Options as dataclasses beside what reads them: a field has its help, range and default in one place.

`option` declares one; the command line, `--model-option`, config.json and checks of values that come from Python are
all made from the fields.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from evenhand.errors import EvenhandError, UsageError, unknown_name

T = TypeVar("T")
O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class NoOptions:
    """Options of what takes none."""


def option(
    default: T,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    metavar: str | None = None,
    parse: Callable[[str], object] | None = None,
    flag: str | None = None,
    repeated: bool = False,
    incidental: bool = False,
    needs: str | None = None,
) -> T:
    """Declare a field of a frozen options dataclass.

    Args:
        help: one line, without the default and the range, which are added.
        least, most, above: range of a number, which must be finite.
        parse: reads the command line's text where the type doesn't say how; raises ValueError saying what is expected.
        flag: the option's name where it is not the field's ("config" for configs).
        repeated: whether an option of several values is given once for each.
        incidental: whether it decides only how fast or how patiently something is done; a run resumes with another.
        needs: another field, without which this one has no effect and is refused.
    """
    declared = {
        "help": help, "least": least, "most": most, "above": above, "metavar": metavar, "parse": parse,
        "repeated": repeated, "incidental": incidental, "needs": needs,
    }  # fmt: skip
    return field(default=default, metadata=declared | ({"flag": flag} if flag else {}))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class OptionField:
    """A field as its dataclass declares it.

    Attributes:
        kind: type of one value; None where it is a class of its own, which checks itself.
        choices: of a Literal.
        several: whether it is a tuple of values.
        optional: whether it may be None.
    """

    name: str
    default: Any
    kind: type | None
    choices: tuple[str, ...]
    several: bool
    optional: bool
    flag: str
    help: str = ""
    metavar: str | None = None
    parse: Callable[[str], object] | None = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    repeated: bool = False
    incidental: bool = False
    needs: str | None = None

    @property
    def accepted(self) -> str:
        """ "a whole number of 1 or more", for errors and help."""
        if self.choices:
            return " or ".join(filter(None, (", ".join(self.choices[:-1]), self.choices[-1])))
        if self.kind is bool:
            return "true or false"
        if self.kind not in (int, float):
            return "text that is not blank"
        number = "a whole number" if self.kind is int else "a number"
        if self.least is not None:
            least = _number(self.least)
            return (
                f"{number} of {least} or more"
                if self.most is None
                else f"{number} from {least} to {_number(self.most)}"
            )
        if self.above is not None:
            most = "" if self.most is None else f", {_number(self.most)} at most"
            return f"{number} above {_number(self.above)}{most}"
        return number

    @property
    def explained(self) -> str:
        """The help with range and default, for --help."""
        ranged = any(end is not None for end in (self.least, self.most, self.above))
        default = " ".join(map(str, self.default)) if isinstance(self.default, tuple) else self.default
        more = [self.accepted] * ranged + ([] if default in (None, False, "") else [f"default: {default}"])
        return self.help + (f" ({'; '.join(more)})" if more else "")

    def parsed(self, text: str) -> Any:
        """Read one value. Raises ValueError saying what was expected and what was given."""
        if self.parse is not None:
            return self.parse(text)
        value: Any = text
        with suppress(ValueError):
            if self.kind is int:
                value = int(text) if text.isascii() else text
            elif self.kind is float:
                value = float(text)
            elif self.kind is bool:
                value = {"true": True, "false": False}.get(text.casefold(), text)
        self.check(value)
        return value

    def check(self, value: object) -> None:
        """Raise ValueError unless the option takes this one value."""
        if not self._fits(value):
            raise ValueError(f"must be {self.accepted}, got {value!r}")

    def _fits(self, value: object) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind is bool:
            return isinstance(value, bool)
        if self.kind is str:
            return isinstance(value, str) and bool(value.strip())
        if self.kind is None:
            return True
        if isinstance(value, bool) or not isinstance(value, (int, float) if self.kind is float else int):
            return False
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
        )


def pair(text: str) -> tuple[str, str]:
    """Read one KEY=VALUE. Raises ValueError."""
    key, equals, value = text.partition("=")
    if not (key.strip() and equals and value.strip()):
        raise ValueError(f"must be KEY=VALUE, got {text!r}")
    return key.strip(), value.strip()


def fields_of(options: Any) -> tuple[OptionField, ...]:
    """Return the fields of an options dataclass, in order."""
    return _fields_of(options)


@cache
def _fields_of(options: Any) -> tuple[OptionField, ...]:
    hints = typing.get_type_hints(options)
    return tuple(_field(each, hints[each.name]) for each in dataclasses.fields(options))


def _field(each: dataclasses.Field[Any], hint: Any) -> OptionField:
    arms = get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    inner = [arm for arm in arms if arm is not type(None)]
    several = get_origin(inner[0]) is tuple
    one = get_args(inner[0])[0] if several else inner[0]
    choices = tuple(map(str, get_args(one))) if get_origin(one) is Literal else ()
    return OptionField(
        name=each.name,
        default=each.default,
        kind=str if choices else one if one in (int, float, bool, str) and len(inner) == 1 else None,
        choices=choices,
        several=several,
        optional=len(inner) < len(arms),
        **{"flag": each.name.replace("_", "-"), **each.metadata},
    )


def checked(options: O) -> O:
    """Return the options. Raises UsageError naming the option whose value is out of range."""
    for each in fields_of(type(options)):
        value = getattr(options, each.name)
        if value is each.default or (value is None and each.optional):
            continue
        try:
            if each.several and not isinstance(value, (tuple, list)):
                raise ValueError(f"must be a tuple of values, got {value!r}")
            for one in value if each.several else (value,):
                each.check(one)
        except ValueError as error:
            raise UsageError(f"--{each.flag}: {error}") from error
    return options


def made(options: type[O], values: Mapping[str, object]) -> O:
    """Make an options dataclass from values by name.

    Raises UsageError for unknown names, values out of range, and options without the one that they need.
    """
    known = {each.name: each for each in fields_of(options)}
    for name in values:
        if name not in known:
            raise unknown_name("option", name, sorted(known))
        needed = known[name].needs
        if needed is not None and not values.get(needed):
            raise UsageError(
                f"--{known[name].flag} has no effect without --{known[needed].flag}: give both, or leave it out"
            )
    return checked(options(**values))


def without_incidental(options: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Leave incidental options out of a record of such an options dataclass."""
    incidental = {each.name for each in fields_of(options) if each.incidental}
    return {name: value for name, value in record.items() if name not in incidental}


def from_texts(options: type[O], texts: Mapping[str, str], of: str) -> O:
    """Make an options dataclass from KEY=VALUE pairs. of: whose options they are, for errors ("stub")."""
    return options(**values_of(options, texts, of))


def values_of(options: type, texts: Mapping[str, str], of: str) -> dict[str, object]:
    """Read values of an options dataclass, by name, from KEY=VALUE pairs. Raises UsageError."""
    known = {each.flag: each for each in fields_of(options)}
    values: dict[str, object] = {}
    for key, text in texts.items():
        each = known.get(key.replace("_", "-"))
        if each is None:
            raise unknown_name(f"option of {of}", key, list(known))
        try:
            values[each.name] = tuple(map(each.parsed, text.split(","))) if each.several else each.parsed(text)
        except ValueError as error:
            raise UsageError(f"{of}: {key} {error}") from error
    return values


def texts_of(options: type, values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Write values by name as KEY=VALUE pairs that `from_texts` reads."""
    return [(each.flag.replace("-", "_"), str(values[each.name])) for each in fields_of(options) if each.name in values]


def _number(value: float) -> str:
    """In full: 1 is no 1.0, 4294967295 no 4.29497e+09."""
    return str(int(value)) if value == int(value) else str(value)


def from_record(kind: type[T], record: object) -> T:
    """Make a dataclass from its JSON. Raises EvenhandError for unknown keys and values of another type."""
    import dacite

    try:
        if not isinstance(record, Mapping):
            raise TypeError(f"expected an object, got {type(record).__name__}")
        return dacite.from_dict(kind, _tupled(record), config=dacite.Config(strict=True, cast=[tuple]))  # type: ignore[type-var]
    except (dacite.DaciteError, TypeError, ValueError) as error:
        raise EvenhandError(
            f"a record that this version of evenhand can't read ({error}): it is damaged, or another version's; repeat "
            "the evenhand run command with another --output"
        ) from error


def _tupled(value: Any) -> Any:
    """Lists as tuples, inner ones too: JSON knows no tuples, our dataclasses no lists."""
    if isinstance(value, Mapping):
        return {str(key): _tupled(each) for key, each in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, (list, tuple)) else value
