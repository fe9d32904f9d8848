"""A metric's page, on which a visitor pastes answers and sees the score; its Space on the Hub runs the same."""
