"""What the command line says of Ray."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.options import option


@dataclass(frozen=True)
class RayOptions:
    """Nothing of it decides what comes out, and none of it is written down."""

    ray: str | None = option(
        None, "replicas of the model on a Ray cluster: local starts one here, auto and HOST:PORT join one",
        metavar="ADDRESS",
    )  # fmt: skip
    replicas: int = option(1, "how many", least=1, metavar="N", needs="ray")
    replica_cpus: int = option(1, "cores of each", least=1, metavar="N", needs="ray")
    replica_gpus: int | None = option(
        None, "GPUs of each; by default one where the cluster has some", least=0, metavar="N", needs="ray"
    )
