"""evenhand.hub: datasets, metrics and models as they stand on the Hub, and what is sent there."""
