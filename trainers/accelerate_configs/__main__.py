"""`python -m evenhand.trainers.accelerate_configs NAME`: where that configuration is, for `--config_file`."""

import argparse

from evenhand.trainers.accelerate_configs import CONFIGS


def main() -> None:
    names = sorted(path.stem for path in CONFIGS.glob("*.yaml"))
    parser = argparse.ArgumentParser(prog="python -m evenhand.trainers.accelerate_configs", description=__doc__)
    parser.add_argument("name", choices=names)
    print(CONFIGS / f"{parser.parse_args().name}.yaml")


if __name__ == "__main__":
    main()
