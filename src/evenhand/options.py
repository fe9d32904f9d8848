"""Options as dataclasses beside what reads them: a field has its help, range and default in one place.

`option` declares one; the command line, `--model-option`, config.json and checks of values that come from Python are
all made from the fields.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from evenhand.errors import EvenhandError, UsageError, unknown_name

T = TypeVar("T")
O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class NoOptions:
    """Of what takes none."""


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
    """A field of a frozen options dataclass.

    help: one line, without the default and the range, which are added. least, most, above: of a number; a number is
    finite. parse: from the command line's text, where the type doesn't say how; raises ValueError with what is
    accepted. flag: the option's name where it is not the field's ("config" for configs). repeated: of several values,
    the option is given once for each. incidental: it decides how fast or how patiently something is done, and nothing
    of what comes out: what was begun goes on with another. needs: another field, without which this one would do
    nothing, and is refused.
    """
    range_ = {"least": least, "most": most, "above": above}
    said = {"help": help, "metavar": metavar, "parse": parse, "flag": flag, "repeated": repeated, "needs": needs}
    return field(default=default, metadata={**said, "incidental": incidental, **range_})  # type: ignore[no-any-return]


@dataclass(frozen=True)
class OptionField:
    """One field, as its dataclass declares it. choices: of a Literal; several: a tuple of values."""

    name: str
    flag: str
    help: str
    default: Any
    kind: type | None
    choices: tuple[str, ...]
    several: bool
    repeated: bool
    incidental: bool
    optional: bool
    metavar: str | None
    parse: Callable[[str], object] | None
    least: float | None
    most: float | None
    above: float | None
    needs: str | None

    @property
    def accepted(self) -> str:
        """ "a whole number of 1 or more", for errors and help."""
        if self.choices:
            return " or ".join([", ".join(self.choices[:-1]), self.choices[-1]] if self.choices[1:] else self.choices)
        if self.kind not in (int, float):
            return "text that is not blank"
        number = "a whole number" if self.kind is int else "a number"
        if self.least is not None and self.most is not None:
            return f"{number} from {_number(self.least)} to {_number(self.most)}"
        if self.above is not None and self.most is not None:
            return f"{number} above {_number(self.above)}, {_number(self.most)} at most"
        if self.above is not None:
            return f"{number} above {_number(self.above)}"
        if self.least is not None:
            return f"{number} of {_number(self.least)} or more"
        return number

    @property
    def explained(self) -> str:
        """The help with range and default, for --help."""
        ranged = self.accepted if any(end is not None for end in (self.least, self.most, self.above)) else ""
        none = self.default is None or self.default is False or self.default in ((), "")
        default = "" if none else f"default: {_shown(self.default)}"
        more = "; ".join(filter(None, (ranged, default)))
        return self.help + (f" ({more})" if more else "")

    def parsed(self, text: str) -> Any:
        """One value from its text. Raises ValueError saying what came and what is accepted."""
        if self.parse is not None:
            return self.parse(text)
        value: Any = text
        try:
            if self.kind is int:
                value = int(text) if text.isascii() else text
            elif self.kind is float:
                value = float(text)
            elif self.kind is bool:
                value = {"true": True, "false": False}.get(text.casefold(), text)
        except ValueError:
            pass
        self.check(value)
        return value

    def check(self, value: object) -> None:
        """One value. Raises ValueError."""
        if not self._fits(value):
            raise ValueError(f"{value!r} came; {'true or false' if self.kind is bool else self.accepted} is accepted")

    def _fits(self, value: object) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind is bool:
            return isinstance(value, bool)
        if self.kind is str:
            return isinstance(value, str) and bool(value.strip())
        if self.kind not in (int, float):
            return True  # of a type of its own, which checks itself
        if isinstance(value, bool) or not isinstance(value, (int, float) if self.kind is float else int):
            return False
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
        )


def pair(text: str) -> tuple[str, str]:
    """One KEY=VALUE. Raises ValueError."""
    key, equals, value = text.partition("=")
    if not (key.strip() and equals and value.strip()):
        raise ValueError(f"{text!r} came; KEY=VALUE is accepted")
    return key.strip(), value.strip()


def fields_of(options: Any) -> tuple[OptionField, ...]:
    """Of an options dataclass, in order."""
    return _fields(options)


@cache
def _fields(options: Any) -> tuple[OptionField, ...]:
    hints = typing.get_type_hints(options)
    return tuple(_field(each, hints[each.name]) for each in dataclasses.fields(options))


def _field(each: dataclasses.Field[Any], hint: Any) -> OptionField:
    unsaid = ("least", "most", "above", "metavar", "parse", "flag", "needs")
    said = {"help": "", "repeated": False, "incidental": False, **dict.fromkeys(unsaid), **each.metadata}
    inner = [arm for arm in get_args(hint) if arm is not type(None)] if _is_union(hint) else [hint]
    optional = _is_union(hint) and len(inner) < len(get_args(hint))
    one = inner[0]
    several = get_origin(one) is tuple
    if several:
        one = get_args(one)[0]
    choices = tuple(map(str, get_args(one))) if get_origin(one) is Literal else ()
    kind = str if choices else one if one in (int, float, bool, str) and len(inner) == 1 else None
    return OptionField(
        name=each.name,
        flag=said["flag"] or each.name.replace("_", "-"),
        help=said["help"],
        default=each.default,
        kind=kind,
        choices=choices,
        several=several,
        optional=optional,
        repeated=said["repeated"],
        incidental=said["incidental"],
        **{name: said[name] for name in ("metavar", "parse", "least", "most", "above", "needs")},
    )


def _is_union(hint: Any) -> bool:
    import types

    return get_origin(hint) in (typing.Union, types.UnionType)


def checked(options: O) -> O:
    """The same. Raises UsageError naming the option whose value is out of range, whoever gave it."""
    for each in fields_of(type(options)):
        value = getattr(options, each.name)
        if value is each.default or (value is None and each.optional):
            continue
        try:
            if each.several and not isinstance(value, (tuple, list)):
                raise ValueError(f"{value!r} came; a tuple of values is accepted")
            for one in value if each.several else (value,):
                each.check(one)
        except ValueError as error:
            raise UsageError(f"--{each.flag}: {error}") from error
    return options


def made(options: type[O], values: Mapping[str, object]) -> O:
    """An options dataclass from values by name.

    Raises UsageError for unknown names, values out of range, and options without the one that they need.
    """
    known = {each.name: each for each in fields_of(options)}
    for name in values:
        if name not in known:
            raise unknown_name("option", name, sorted(known))
        needed = known[name].needs
        if needed is not None and not values.get(needed):
            raise UsageError(
                f"--{known[name].flag} would do nothing without --{known[needed].flag}: give both, or leave it out"
            )
    return checked(options(**values))


def without_incidental(options: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of such an options dataclass, without what decides nothing."""
    incidental = {each.name for each in fields_of(options) if each.incidental}
    return {name: value for name, value in record.items() if name not in incidental}


def from_texts(options: type[O], texts: Mapping[str, str], of: str) -> O:
    """An options dataclass from KEY=VALUE pairs. of: whose options they are, for errors ("stub")."""
    return options(**values_of(options, texts, of))


def values_of(options: type, texts: Mapping[str, str], of: str) -> dict[str, object]:
    """Of an options dataclass, by name, from KEY=VALUE pairs. Raises UsageError."""
    known = {each.flag: each for each in fields_of(options)}
    values: dict[str, object] = {}
    for key, text in texts.items():
        each = known.get(key.replace("_", "-"))
        if each is None:
            raise unknown_name(f"option of {of}", key, list(known))
        try:
            values[each.name] = tuple(map(each.parsed, text.split(","))) if each.several else each.parsed(text)
        except ValueError as error:
            raise UsageError(f"{of} takes {key}=…: {error}") from error
    return values


def texts_of(options: type, values: Mapping[str, object]) -> list[tuple[str, str]]:
    """KEY=VALUE pairs, as `from_texts` takes them, from values by name."""
    return [(each.flag.replace("-", "_"), str(values[each.name])) for each in fields_of(options) if each.name in values]


def _number(value: float) -> str:
    """In full: 1 is no 1.0, 4294967295 no 4.29497e+09."""
    return str(int(value)) if value == int(value) else str(value)


def _shown(default: object) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def from_record(kind: type[T], record: object) -> T:
    """Raises EvenhandError for unknown keys and values of another type: a damaged file, or another version's."""
    import dacite

    try:
        if not isinstance(record, Mapping):
            raise TypeError(f"an object is expected, {type(record).__name__} came")
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
