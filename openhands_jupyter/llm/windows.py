"""How many tokens an agent needs, and where a model's window is set."""

from __future__ import annotations

SMALL_WINDOW = 16_384
"""Tokens; in less an agent forgets its task."""

_ADVICE = {
    "ollama": (
        "Set context_window (Ollama's num_ctx) to 32768 or more in the settings, or "
        "OLLAMA_CONTEXT_LENGTH for the Ollama server."
    ),
    "lm_studio": "Load the model with a larger context length in LM Studio.",
    "hosted_vllm": "Start vLLM with a larger --max-model-len.",
    "llamafile": "Start the server of llama.cpp with a larger --ctx-size.",
}


def advice(model: str) -> str:
    """What to do about a small window of a model, as a sentence."""
    provider = model.partition("/")[0].removesuffix("_chat")
    return _ADVICE.get(
        provider,
        "Choose a model with a larger one, or set context_window if the model takes more.",
    )
