"""What OpenHands' ``config.toml`` may hold that is not for us, and what there is instead."""

from __future__ import annotations

from .keys import FileKey

SECTIONS = frozenset({"cli", "extended", "kubernetes", "model_routing"})
"""Sections that mean nothing here."""

_CONDENSED = "A history is condensed by its tokens, not by its events; set condenser.max_tokens."
_WAITS = "How long is waited follows what the provider says."
_WORKSPACE = "A sandbox has the workspace, and nothing else of the disk to write to."
_NETWORK = "Set sandbox.network and sandbox.network_rules."
_INSTEAD = {
    "core.enable_default_condenser": 'Set condenser.type, to "noop" for none.',
    "core.runtime": "Set sandbox.isolation.",
    "core.workspace_base": "Agents work in the folder that Jupyter serves, or --workspace names.",
    "condenser.condensers": 'The condensers of type = "pipeline" are always the same.',
    "condenser.max_events": _CONDENSED,
    "condenser.max_size": _CONDENSED,
    "llm.disable_vision": 'Set llm.vision, to "off" for no images.',
    "llm.ollama_base_url": "Set llm.base_url.",
    "llm.retry_max_wait": _WAITS,
    "llm.retry_min_wait": _WAITS,
    "llm.retry_multiplier": _WAITS,
    "sandbox.additional_networks": _NETWORK,
    "sandbox.close_delay": "Set sandbox.idle_timeout, in minutes.",
    "sandbox.pause_closed_runtimes": "Set sandbox.docker_pause_after, in minutes.",
    "sandbox.runtime_container_image": "Set sandbox.base_container_image.",
    "sandbox.runtime_extra_deps": "Set sandbox.requirements.",
    "sandbox.trusted_dirs": _WORKSPACE,
    "sandbox.use_host_network": _NETWORK,
    "sandbox.volumes": _WORKSPACE,
    "security.enable_security_analyzer": "The gate is always there.",
    "security.security_analyzer": "The gate has its own rules; hooks can forbid more.",
}
_NOTHING = {
    "core": """
        cache_dir conversation_max_age_seconds debug disable_color enable_browser file_store
        file_store_path file_store_web_hook_url file_uploads_allowed_extensions
        file_uploads_max_file_size_mb file_uploads_restrict_file_types git_user_email git_user_name
        init_git_in_empty_workspace jwt_secret max_concurrent_conversations mcp_host
        replay_trajectory_path run_as_openhands save_screenshots_in_trajectory
        save_trajectory_path search_api_key
    """,
    "llm": """
        api_version aws_access_key_id aws_region_name aws_secret_access_key completion_kwargs
        correct_num custom_llm_provider custom_tokenizer drop_params for_routing
        input_cost_per_token log_completions log_completions_folder max_message_chars modify_params
        openrouter_app_name openrouter_site_url output_cost_per_token safety_settings seed
        temperature top_k top_p
    """,
    "agent": """
        classpath cmd codeact_enable_browsing codeact_enable_jupyter condensation_request condenser
        disabled_microagents editor enable_browsing enable_cmd enable_editor enable_finish
        enable_history_truncation enable_jupyter enable_llm_editor enable_mcp enable_plan_mode
        enable_prompt_extensions enable_som_visual_browsing enable_think finish history_truncation
        jupyter llm_editor mcp model_routing plan_mode prompt_extensions som_visual_browsing
        system_prompt_filename think
    """,
    "sandbox": """
        api_key browsergym_eval_env cuda_visible_devices docker_runtime_kwargs enable_auto_lint
        enable_gpu force_rebuild_runtime initialize_plugins keep_runtime_alive local_runtime_url
        platform remote_runtime_api_timeout remote_runtime_api_url remote_runtime_class
        remote_runtime_enable_retries remote_runtime_init_timeout remote_runtime_resource_factor
        rm_all_containers runtime_binding_address runtime_extra_build_args
        runtime_startup_env_vars selected_repo user_id vscode_port
    """,
}


def instead_of(key: FileKey) -> str:
    """What to do instead of a key of OpenHands that is not for us; empty if it is none."""
    if key.key in _NOTHING.get(key.section, "").split():
        return "OpenHands has it, and it means nothing here."
    return _INSTEAD.get(str(key), "")
