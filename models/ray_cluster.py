"""Replicas of models on the machines of a Ray cluster, as core actors."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType, ModuleType
from typing import Any

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.protocol import Model
from evenhand.models.registry import Loading, is_server, load_model
from evenhand.models.replica import ModelSpec, Replica
from evenhand.models.replica_pool import Died, ReplicaPool, ReplicatedModel, Stream
from evenhand.models.request import Request
from evenhand.options import option

INSTALL = "pip install 'evenhand[ray]'"
ACCEPTED = "local (a cluster on this machine, for this run alone), auto (that of which this machine is part), HOST:PORT"
ENDING = 10.0  # seconds that replicas have to end what their models started
JOINING = 5.0  # seconds for a cluster to be reached
TRIES = 3  # to start one: on a busy machine Ray gives up after seconds (github.com/ray-project/ray/issues/65983)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RayOptions:
    """Options of the command line. None changes the results, and none is recorded."""

    ray: str | None = option(
        None, "run replicas of the model on a Ray cluster: local starts one here, auto and HOST:PORT join one",
        metavar="ADDRESS",
    )  # fmt: skip
    replicas: int = option(1, "number of replicas", least=1, metavar="N", needs="ray")
    replica_cpus: int = option(1, "cores of each replica", least=1, metavar="N", needs="ray")
    replica_gpus: int | None = option(
        None, "GPUs of each replica; by default one where the cluster has any", least=0, metavar="N", needs="ray"
    )


class RayCluster:
    """Starts or joins a cluster when the first model is loaded; its replicas end with the context.

    with RayCluster("local", replicas=2) as cluster: evaluate(config, folder, load=cluster.load_model)
    """

    def __init__(self, address: str, replicas: int = 1, cpus: int = 1, gpus: int | None = None):
        """replicas: processes, each with all models that are loaded here. cpus, gpus: of each; gpus None: one, where
        the cluster has some.

        Raises ModelError where Ray is not installed, UsageError for an address of another kind.
        """
        if importlib.util.find_spec("ray") is None:
            raise ModelError(f"--ray {address}: Ray is not installed here: {INSTALL}")
        if address not in ("local", "auto") and not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", address):
            raise UsageError(f"--ray {address!r} is no address of a cluster; accepted: {ACCEPTED}")
        self._options = RayOptions(address, replicas, cpus, gpus)
        self._pool: ReplicaPool | None = None
        self._host: _RayHost | None = None

    @classmethod
    def from_options(cls, options: RayOptions) -> RayCluster:
        return cls(str(options.ray), options.replicas, options.replica_cpus, options.replica_gpus)

    def load_model(self, name: str, *, options: Mapping[str, str] = MappingProxyType({}), **settings: Any) -> Model:
        """`load_model` on each replica, with the same arguments. A server is asked from here.

        Raises ModelError where no cluster is reached, or a replica can't load the model.
        """
        if is_server(name):
            return load_model(name, options=options, **settings)
        spec = ModelSpec(name, Loading(**settings), tuple(sorted(options.items())))
        if self._pool is None:
            self._host = _RayHost(self._options)
            self._pool = ReplicaPool(self._host, self._options.replicas)
        described = self._pool.describe(spec)
        if described.evenhand != version("evenhand"):
            raise ModelError(
                f"{described.machine} has evenhand {described.evenhand}, and {version('evenhand')} is here: install "
                "the same version on every machine"
            )
        return ReplicatedModel(self._pool, spec, described)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
        if self._host is not None:
            self._host.leave()
        self._pool = self._host = None

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _RayHost:
    """Actors of a cluster that is started or joined when this is made."""

    def __init__(self, options: RayOptions):
        self._ray = _quiet_ray(str(options.ray))
        self._joined = not self._ray.is_initialized()  # else whoever joined it leaves it
        if self._joined:
            _join(self._ray, options)
        gpus = options.replica_gpus
        if gpus is None:
            gpus = int(any(machine.get("GPU") for machine in self._machines()))
        self._needs = {"CPU": options.replica_cpus, "GPU": gpus}
        if not any(all(has.get(what, 0) >= n for what, n in self._needs.items()) for has in self._machines()):
            needs, largest = (
                _list_resources(self._needs),
                max(map(_list_resources, self._machines()), default="nothing"),
            )
            self.leave()
            raise ModelError(
                f"a replica needs {needs}, and no machine of the cluster has as much (one has {largest}): give smaller "
                "--replica-cpus or --replica-gpus"
            )
        self._actor = self._ray.remote(Replica).options(
            num_cpus=options.replica_cpus, num_gpus=gpus, scheduling_strategy="SPREAD"
        )

    def start(self) -> _Actor:
        return _Actor(self._actor.remote(os.getcwd()))

    def ready(self, streams: Sequence[Stream], seconds: float) -> Stream | None:
        found, _ = self._ray.wait([*streams], num_returns=1, timeout=seconds)
        return found[0] if found else None

    def item(self, stream: Stream) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(next(stream))
        except StopIteration:
            return None
        except errors.RayTaskError as error:  # what the replica raised, as it would be raised here
            raise error.cause if isinstance(error.cause, (ModelError, UsageError)) else error from None
        except errors.RayError as error:
            raise Died(_explain_death(error)) from error

    def end(self, idle: Sequence[_Actor], busy: Sequence[_Actor]) -> None:
        closing = [each.close() for each in idle]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=ENDING)
        for each in (*idle, *busy):
            self._ray.kill(each.actor)

    def waiting_for(self) -> str:
        free = {what: n for what, n in self._ray.available_resources().items() if what in self._needs}
        return f"each needs {_list_resources(self._needs)}; free in the cluster now: {_list_resources(free)}"

    def leave(self) -> None:
        if self._joined:
            self._ray.shutdown()

    def _machines(self) -> list[dict[str, float]]:
        return [machine["Resources"] for machine in self._ray.nodes() if machine["Alive"]]


class _Actor:
    """One replica; what its methods yield is streamed."""

    def __init__(self, actor: Any):
        self.actor = actor

    def describe(self, spec: ModelSpec) -> Stream:
        return self.actor.describe.options(num_returns="streaming").remote(spec)

    def answer(self, spec: ModelSpec, identity: str, requests: Sequence[Request]) -> Stream:
        return self.actor.answer.options(num_returns="streaming").remote(spec, identity, requests)

    def close(self) -> Stream:
        return self.actor.close.options(num_returns="streaming").remote()


def _quiet_ray(address: str) -> ModuleType:
    """Import Ray with its usage reports off."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # 15 by default: behind whatever else runs on this machine
    if address == "local" and "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:
        # Whoever reaches a cluster's ports may run anything. Ray reads this once, and else keeps a token on disk.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    import ray
    import ray.exceptions

    return ray  # type: ignore[no-any-return]


def _join(ray: ModuleType, options: RayOptions) -> None:
    """Raises ModelError where no cluster is there, or one of other versions."""
    address = str(options.ray)
    settings = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        settings |= {"num_cpus": options.replicas * options.replica_cpus, "include_dashboard": False}
    elif address != "auto":
        _check_reachable(address)
    for left in reversed(range(TRIES if address == "local" else 1)):
        try:
            ray.init(address=address, **settings)
            return
        except Exception as error:  # of many kinds, Exception itself among them
            ray.shutdown()
            if not left:
                raise ModelError(
                    f"no cluster was joined by --ray {address}: {_in_one_line(error)}. {_START}"
                ) from error


_START = (
    "`ray start --head` starts one, and `ray start --address HOST:PORT` on further machines; evenhand is given on one "
    "of them. Where the cluster wants a token, set RAY_AUTH_MODE=token here, too"
)


def _check_reachable(address: str) -> None:
    """Ray itself would wait for minutes, and then end this process."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=JOINING).close()
    except (OSError, OverflowError) as error:
        raise ModelError(f"nothing answers at --ray {address}: {error}. {_START}") from error


def _explain_death(error: Exception) -> str:
    """Why a replica died, in a sentence. Raises ModelError where any other would die in the same way."""
    if "No module named 'evenhand" in str(error):
        raise ModelError(f"evenhand is not installed on a machine of the cluster: {INSTALL} on each") from error
    said = _in_one_line(error).split(" Some common causes")[0]
    return said[-300:].rstrip(".")


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _list_resources(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{what} {resources.get(what, 0):g}" for what in ("CPU", "GPU"))
