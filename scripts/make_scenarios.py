"""Make scenarios of task assignment, and reasons why assignments are biased or not, as Borah & Mihalcea did.

python scripts/make_scenarios.py --domain "law enforcement" --female 2 --male 2 --n 50 \\
    --model Qwen/Qwen2.5-7B-Instruct --output runs/scenarios

An interrupted run resumes when the same command is given again.
"""

from generating import generate_rows

from evenhand.tools.generation.scenarios import TO_JUDGE, ScenarioGeneration, make_scenarios


def main() -> None:
    folder = generate_rows("make_scenarios", __doc__, ScenarioGeneration, make_scenarios)
    if (folder.path / TO_JUDGE).stat().st_size:
        print(
            f"To judge: evenhand annotate export {folder.path / TO_JUDGE} --scheme yes-no --column story "
            "--column reason --label-column presence=biased --annotators 2 --output judged.csv"
        )


if __name__ == "__main__":
    main()
