"""Results of finished runs, in the forms in which others collect them, sent to the model that they are of."""
