"""Providers of language models: where their keys are looked for, and models to begin with."""

from __future__ import annotations

from typing import NamedTuple

from ..llm.local_servers import LOCAL_SERVERS

GENERIC_KEY = "LLM_API_KEY"
"""OpenHands' own name: the key of the configured model, whatever its provider."""


class Provider(NamedTuple):
    """A provider, in LiteLLM's terms.

    Attributes
    ----------
    label
        As people know it.
    key
        Environment variable of its key; empty when it needs none.
    models
        Models offered before anything is configured.
    address
        Where such a server is looked for on this machine; empty for one on the internet.
    """

    label: str
    key: str
    models: tuple[str, ...] = ()
    address: str = ""


PROVIDERS = {
    "anthropic": Provider(
        "Anthropic",
        "ANTHROPIC_API_KEY",
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-5", "anthropic/claude-haiku-4-5"),
    ),
    "openai": Provider("OpenAI", "OPENAI_API_KEY", ("openai/gpt-5.5", "openai/gpt-5-mini")),
    "gemini": Provider("Google Gemini", "GEMINI_API_KEY", ("gemini/gemini-2.5-pro",)),
    "mistral": Provider("Mistral", "MISTRAL_API_KEY", ("mistral/mistral-medium-latest",)),
    "deepseek": Provider("DeepSeek", "DEEPSEEK_API_KEY", ("deepseek/deepseek-chat",)),
    "openrouter": Provider("OpenRouter", "OPENROUTER_API_KEY"),
    "groq": Provider("Groq", "GROQ_API_KEY"),
    "xai": Provider("xAI", "XAI_API_KEY"),
    "together_ai": Provider("Together AI", "TOGETHERAI_API_KEY"),
    "fireworks_ai": Provider("Fireworks AI", "FIREWORKS_AI_API_KEY"),
    "cohere": Provider("Cohere", "COHERE_API_KEY"),
    "azure": Provider("Azure OpenAI", "AZURE_API_KEY"),
    "litellm_proxy": Provider("LiteLLM proxy", "LITELLM_PROXY_API_KEY"),
    "ollama": Provider("Ollama", "", address=LOCAL_SERVERS[0].address),
    **{server.provider: Provider(server.label, "", (), server.address) for server in LOCAL_SERVERS},
}
KEY_NAMES = (GENERIC_KEY, *sorted({p.key for p in PROVIDERS.values()} - {""}))

_PREFIXES = {"claude": "anthropic", "gemini": "gemini", "deepseek": "deepseek"}


def provider_of(model: str) -> str:
    """The provider of a model: what stands before the slash, else what its name suggests."""
    provider, slash, _ = model.partition("/")
    if slash:
        return provider
    return next((p for start, p in _PREFIXES.items() if model.startswith(start)), "openai")
