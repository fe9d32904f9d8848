"""May a candidate take its base's place? Only if neither bias nor utility got worse by more than a policy allows."""
