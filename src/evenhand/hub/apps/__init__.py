"""A metric's page, on which a visitor pastes answers and sees the score; also what its Space on the Hub runs."""
