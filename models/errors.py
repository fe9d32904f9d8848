"""What a model can't do, said so that a person knows what to do."""


class ModelError(Exception):
    """A model could not be loaded, or could not answer; the message says what to do."""


class PromptTooLong(ModelError):
    """A prompt with its answer exceeds the model's context window. Nothing was cut."""

    def __init__(self, request_name: str, tokens: int, context: int):
        super().__init__(
            f"request {request_name!r} needs {tokens:,} tokens, prompt and answer, but the model's context window "
            f"holds {context:,}; nothing was cut. Use a model with a longer context, or fewer new tokens."
        )
        self.request_name = request_name
        self.tokens = tokens
        self.context = context
