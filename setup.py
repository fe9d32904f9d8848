"""Packages: src/evenhand, and folders at the top of the repository, which are packages of evenhand when installed."""

from setuptools import find_packages, setup

TOP = ("datasets", "metrics", "models", "trainers")

setup(
    packages=[
        *find_packages("src"),
        *(f"evenhand.{name}" for name in TOP),
        *(f"evenhand.{name}.{inner}" for name in TOP for inner in find_packages(name)),
    ]
)
