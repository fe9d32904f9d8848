"""evenhand.models: everything that answers a request. Knows no benchmark."""
