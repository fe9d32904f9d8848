"""Two processes that share a training learn what one learns; one of them writes and tells."""

import json
import os
import runpy
import socket
from configparser import ConfigParser

import pytest
import torch
import yaml
from accelerate.commands.config.config_args import ClusterConfig
from safetensors.torch import load_file
from setuptools import find_packages

from evenhand.errors import UsageError
from evenhand.trainers import benchmark_rows
from evenhand.trainers.accelerate_configs import CONFIGS
from evenhand.trainers.processes import check_measuring, is_main, n_processes, passes_each
from evenhand.trainers.progress import unheard
from evenhand.trainers.social_contact import SocialContactOptions, SocialContactTrainer
from tests.trainers.few_rows import FEW

SECONDS = 300


def trained(rank, processes, port, model, output):
    """In a process of its own, as torchrun starts it."""
    if processes > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(processes)}
    torch.set_num_threads(1)
    benchmark_rows.contact_rows = FEW
    options = SocialContactOptions(
        model=model, dtype="float32", limit=8, batch_size=6, epochs=2, rank=8, dropout=0.0, measure_every=0
    )
    SocialContactTrainer().tune(options, output, unheard)


@pytest.mark.slow
def test_two_processes_give_the_losses_of_one(processes, tiny_checkpoint, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outputs = {1: tmp_path / "one", 2: tmp_path / "two"}
    started = [
        processes.Process(target=trained, args=(rank, n, port, str(tiny_checkpoint), output))
        for n, output in outputs.items()
        for rank in range(n)
    ]
    for each in started:
        each.start()
    for each in started:
        each.join(SECONDS)
        assert each.exitcode == 0
    one, two = (json.loads((output / "training.json").read_text()) for output in outputs.values())
    assert (one["processes"], two["processes"]) == (1, 2)
    assert len(one["losses"]) == len(two["losses"]) == 4
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-5)
    first, second = (load_file(output / "adapter_model.safetensors") for output in outputs.values())
    assert all(torch.allclose(first[name], second[name], atol=1e-5) for name in first)


def test_passes_that_cannot_be_shared_are_refused(monkeypatch):
    assert (is_main(), n_processes(), passes_each(3)) == (True, 1, 3)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert (is_main(), passes_each(4)) == (False, 2)
    with pytest.raises(UsageError, match="a multiple of 2"):
        passes_each(3)


@pytest.mark.parametrize("parts", ["FSDP", "DEEPSPEED"])
def test_where_no_process_has_the_whole_model_it_is_not_measured_on_the_way(monkeypatch, parts):
    check_measuring(50)
    monkeypatch.setenv(f"ACCELERATE_USE_{parts}", "true")
    check_measuring(0)
    with pytest.raises(UsageError, match="use --measure-every 0"):
        check_measuring(50)


@pytest.mark.parametrize("name", ["ddp", "fsdp", "deepspeed"])
def test_accelerate_takes_the_configurations(name):
    file = CONFIGS / f"{name}.yaml"
    assert ClusterConfig.from_yaml_file(file).num_processes == 2
    assert yaml.safe_load(file.read_text())["use_cpu"] is False


def test_where_a_configuration_is_can_be_asked(monkeypatch, capsys):
    """By whoever installed the package and has no repository; each file says the command in its head."""
    asked = "evenhand.trainers.accelerate_configs"
    for path in CONFIGS.glob("*.yaml"):
        assert f"$(python -m {asked} {path.stem})" in path.read_text()
        monkeypatch.setattr("sys.argv", [asked, path.stem])
        runpy.run_module(asked)["main"]()
        assert capsys.readouterr().out == f"{path}\n"
    monkeypatch.setattr("sys.argv", [asked, "ddt"])
    with pytest.raises(SystemExit):
        runpy.run_module(asked)["main"]()
    assert "choose from" in capsys.readouterr().err


def test_the_configurations_are_installed(root):
    told = ConfigParser()
    told.read(root / "setup.cfg")
    assert told["options.package_data"]["evenhand.trainers.accelerate_configs"] == "*.yaml"
    assert "accelerate_configs" in find_packages(str(root / "trainers"))
