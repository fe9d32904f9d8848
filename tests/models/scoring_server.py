"""What a server says of tokens, by a model in this process: /tokenize, /detokenize and /v1/completions, as vLLM has
them."""

import threading

import torch

from tests.hostile.faulty_server import Sent


class Scoring:
    """ways: which /v1/completions has, of "token ids" and "echo"; an unknown setting is ignored, as vLLM ignores it.

    prompts: of all completions that were answered; tokenized: how often /tokenize was.
    """

    def __init__(self, model, tokenizer, ways=("token ids", "echo"), usage=True):
        self._model, self._tokenizer, self._ways, self._usage = model, tokenizer, ways, usage
        self._lock = threading.Lock()
        self.prompts, self.tokenized = [], 0

    @property
    def routes(self):
        return {
            "/tokenize": self.tokenize,
            "/detokenize": lambda body: Sent({"prompt": self._tokenizer.decode(body["tokens"])}),
            "/v1/completions": self.complete,
        }

    def tokenize(self, body):
        with self._lock:
            self.tokenized += 1
            text = body.get("prompt")
            if text is None:
                text = self._tokenizer.apply_chat_template(
                    body["messages"],
                    add_generation_prompt=body["add_generation_prompt"],
                    tokenize=False,
                    **body.get("chat_template_kwargs", {}),
                )
            tokens = self._tokenizer(text, add_special_tokens=body["add_special_tokens"])["input_ids"]
        return Sent({"tokens": tokens, "count": len(tokens), "max_model_len": 1024})

    def complete(self, body):
        prompt = body["prompt"]
        if len(prompt) + body["max_tokens"] > 1024:
            return Sent({"error": {"message": "This model's maximum context length is 1024 tokens."}}, 400)
        with self._lock, torch.inference_mode():
            self.prompts.append(prompt)
            logits = self._model(torch.tensor([prompt])).logits[0]
            log_probs = logits.log_softmax(-1)
        written = int(log_probs[-1].argmax())
        named = {written: float(log_probs[-1, written])}
        if "token ids" in self._ways:
            named |= {token: float(log_probs[-1, token]) for token in body.get("logprob_token_ids", ())}
        given = [named[written]]
        if body.get("echo") and "echo" in self._ways:
            given = [None, *(float(log_probs[i - 1, prompt[i]]) for i in range(1, len(prompt))), *given]
        top = {f"token_id:{token}": value for token, value in named.items()}
        choice = {"text": "…", "logprobs": {"token_logprobs": given, "top_logprobs": [top]}, "finish_reason": "length"}
        usage = {"usage": {"prompt_tokens": len(prompt), "completion_tokens": 1}} if self._usage else {}
        return Sent({"choices": [choice], **usage})
