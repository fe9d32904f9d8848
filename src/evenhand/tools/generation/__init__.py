"""New data from any model, checked and ready for people to judge: sentences of agency, scenarios of task assignment."""
