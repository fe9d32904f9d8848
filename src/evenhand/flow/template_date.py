"""The date in chat templates: one for a run, on whatever day it resumes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.models.protocol import HasChatTemplate, Model
from evenhand.models.template_settings import HasTemplateOptions

C = TypeVar("C", bound=HasTemplateOptions)


def keep_date(config: C, folder: RunFolder) -> C:
    """Set the date of the run that was begun in this folder, unless the configuration has one."""
    begun = folder.begun().get("date") if config.date is None and folder.config.is_file() else None
    return replace(config, date=begun) if isinstance(begun, str) else config


def record_date(config: C, models: Iterable[Model]) -> C:
    """Set the date that chat templates use, or none where no template asks for it.

    Raises UsageError for a date that has no effect.
    """
    dates = [each.template_date for each in models if isinstance(each, HasChatTemplate) and each.template_date]
    if config.date and not dates:
        raise UsageError("--date has no effect: no chat template here asks for the date; remove it")
    return replace(config, date=dates[0] if dates else None)
