"""What may be said of implicit bias in a story: that it is present, that it is absent, or neither for sure."""

from __future__ import annotations

from typing import Final, Literal

Verdict = Literal["present", "absent", "unsure"]
PRESENT: Final = "present"
ABSENT: Final = "absent"
UNSURE: Final = "unsure"
