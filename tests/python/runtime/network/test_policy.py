"""What rules mean, how they are said, and what programs are told."""

from __future__ import annotations

import msgspec
import pytest

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime.egress import PRESETS, NetworkPolicy, NetworkSettings, Rule
from openhands_jupyter.runtime.egress.settings import proxy_environment

pytestmark = pytest.mark.anybody


def test_a_host_and_a_port_are_allowed_exactly():
    policy = NetworkPolicy(mode="allow-list", rules=[Rule("Example.ORG."), Rule("example.org", 80)])
    assert policy.allows("example.org", 443)
    assert policy.allows("example.org", 80)
    for host, port in (
        ("example.org", 8080),
        ("www.example.org", 443),
        ("badexample.org", 443),
        ("example.org.evil.net", 443),
        ("", 443),
    ):
        assert not policy.allows(host, port)


def test_a_star_stands_for_every_name_below():
    policy = NetworkPolicy(mode="allow-list", rules=[Rule("*.example.org")])
    assert policy.allows("a.example.org", 443)
    assert policy.allows("b.a.example.org", 443)
    for host in ("example.org", "badexample.org", "example.org.evil.net"):
        assert not policy.allows(host, 443)


def test_off_means_off_whatever_the_rules_are():
    policy = NetworkPolicy(rules=[Rule("example.org")], presets=["python"])
    assert not policy.allows("example.org", 443)
    assert not policy.allows("pypi.org", 443)
    assert policy.summary() == "no network"


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_valid_and_https_only(preset):
    policy = NetworkPolicy(mode="allow-list", presets=[preset])
    for host in PRESETS[preset]:
        assert policy.allows(host, 443)
        assert not policy.allows(host, 80)


@pytest.mark.parametrize(
    "host",
    [
        *("", "*", "*.", "*.org", "a..b", "-a.org", "a.org/x", "https://a.org", "a.org:443"),
        *("a b.org", "mün.example", "x@a.org", "a.*.org", "a" * 64 + ".org", "a." * 130 + "org"),
        *("127.0.0.1", "1", "127.1", "0x7f.1", "a.0x7f", "::1", "[::1]", "*.0.0.1", "a.org\n"),
    ],
)
def test_what_is_no_name_is_no_rule(host):
    with pytest.raises(ValueError):
        Rule(host)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_what_is_no_port_is_no_rule(port):
    with pytest.raises(ValueError, match="not a port"):
        Rule("example.org", port)


def test_a_policy_is_read_from_settings_and_faults_are_said():
    data = {"mode": "allow-list", "rules": [{"host": "A.org"}], "presets": ["npm"]}
    policy = msgspec.convert(data, NetworkPolicy)
    assert policy.rules == [Rule("a.org", 443)]
    with pytest.raises(msgspec.ValidationError, match="not the name of a host"):
        msgspec.convert({"rules": [{"host": "10.0.0.1"}]}, NetworkPolicy)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"presets": ["everything"]}, NetworkPolicy)


def test_the_summary_names_some_and_counts_the_others():
    rules = [Rule("a.org"), Rule("b.org", 80), Rule("a.org"), Rule("*.c.org")]
    few = NetworkPolicy(mode="allow-list", rules=rules)
    assert few.summary() == "network only to: a.org, b.org:80, *.c.org"
    many = NetworkPolicy(mode="allow-list", rules=[*rules, Rule("d.org"), Rule("e.org")])
    assert many.summary() == "network only to: a.org, b.org:80, *.c.org and 2 more"
    assert NetworkPolicy(mode="allow-list").summary() == "no network"


def test_mirrors_become_variables_and_rules():
    settings = NetworkSettings(
        pip_index="https://mirror.test/simple",
        npm_registry="http://mirror.test:8081/npm",
        conda_channels="https://mirror.test:8443/conda",
    )
    assert settings.rules() == [
        Rule("mirror.test", 443),
        Rule("mirror.test", 8081),
        Rule("mirror.test", 8443),
    ]
    assert settings.environment() == {
        "PIP_INDEX_URL": "https://mirror.test/simple",
        "UV_DEFAULT_INDEX": "https://mirror.test/simple",
        "npm_config_registry": "http://mirror.test:8081/npm",
        "CONDA_CHANNEL_ALIAS": "https://mirror.test:8443/conda",
    }
    assert NetworkSettings().environment() == {}


@pytest.mark.parametrize("place", ["m.test", "m.test:80", "m.test:8080"])
def test_pip_trusts_an_index_without_encryption_as_it_is_written(place):
    settings = NetworkSettings(pip_index=f"http://user:password@{place}/simple")
    assert settings.environment()["PIP_TRUSTED_HOST"] == place


@pytest.mark.parametrize("url", ["mirror.test", "ftp://mirror.test", "https://"])
def test_a_mirror_must_be_a_url(url):
    with pytest.raises(ValueError, match="not a URL"):
        NetworkSettings(pip_index=url)


def test_only_certificates_are_taken_from_the_bundle(certificates, tmp_path):
    bundle = tmp_path / "bundle"
    bundle.write_text(certificates.key.read_text() + certificates.authority.read_text())
    text = NetworkSettings(ca_bundle=str(bundle)).certificates()
    assert text.count("BEGIN CERTIFICATE") == 1
    assert "PRIVATE KEY" not in text


BROKEN = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize("content", [None, "", "no certificate", BROKEN])
def test_a_bundle_without_certificates_is_said(tmp_path, content):
    bundle = tmp_path / "bundle"
    if content is not None:
        bundle.write_text(content)
    with pytest.raises(SandboxUnavailable, match="cannot be read") as caught:
        NetworkSettings(ca_bundle=str(bundle)).certificates()
    assert "CA bundle" in caught.value.hint


def test_programs_are_led_to_the_proxy_in_both_spellings():
    variables = proxy_environment(3128)
    assert variables["https_proxy"] == variables["HTTP_PROXY"] == "http://127.0.0.1:3128"
    assert variables["no_proxy"] == "localhost,127.0.0.1"
    assert len(variables) == 8
