"""The profiles of AWS's own tools: keys, region and endpoint out of ``~/.aws/config`` and ``~/.aws/credentials``.

obstore knows the variables of the environment and no files. What a variable says goes before what a file says.

Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files", "Service-specific endpoints" (the order of precedence).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from configparser import Error, RawConfigParser
from typing import NamedTuple

from weighbridge.core.errors import SourceError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text

FILES = (("AWS_CONFIG_FILE", "~/.aws/config"), ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"))
KEYS = {"aws_access_key_id": "access_key_id", "aws_secret_access_key": "secret_access_key", "aws_session_token": "session_token"}
"""What the files call the parts of credentials, and what obstore does."""

ELSEWHERE = ("sso_session", "sso_start_url", "role_arn", "credential_process", "login_session", "web_identity_token_file")
"""Settings by which a profile has its keys from somewhere else."""


class Profile(NamedTuple):
    """What the files say of one profile.

    Attributes:
        name: Its name.
        keys: Credentials, by the words of obstore; empty if the files hold none.
        region, endpoint: Where its buckets are; the empty string if the files do not say.
    """

    name: str
    keys: Mapping[str, str]
    region: str
    endpoint: str


def profile(source: str) -> Profile:
    """Return the profile that ``AWS_PROFILE`` names, or the default one, which may be empty.

    Args:
        source: What is to be read, for messages.

    Raises:
        SourceError: A file that cannot be parsed, or a profile that was named and is not there or has its keys from elsewhere.
    """
    asked = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or ""
    name = asked or "default"
    config, credentials = (_parse(os.path.expanduser(os.environ.get(variable) or path), source) for variable, path in FILES)
    settings = {**_section(config, f"profile {name}"), **(_section(config, "default") if name == "default" else {})}
    own = _section(credentials, name)
    if asked and not settings and not own:
        raise SourceError(
            Text(
                "{source}: AWS_PROFILE names {name!r}, which is neither in ~/.aws/config nor in ~/.aws/credentials",
                source=source,
                name=name,
            ),
            source=source,
        )
    held = own if "aws_access_key_id" in own else settings
    keys = {ours: held[theirs] for theirs, ours in KEYS.items() if held.get(theirs)}
    if asked and not keys and not os.environ.get("AWS_ACCESS_KEY_ID") and any(word in settings for word in ELSEWHERE):
        way = f'eval "$(aws configure export-credentials --profile {name} --format env)"'
        raise SourceError(
            Text(
                "{source}: the profile {name!r} has its keys from elsewhere; put them into the environment: {way}",
                source=source,
                name=name,
                way=way,
            ),
            source=source,
        )
    return Profile(name, keys, settings.get("region") or own.get("region", ""), _endpoint(config, settings))


def _parse(path: str, source: str) -> RawConfigParser:
    """Parse one of AWS's two files of profiles; one that is not there is empty."""
    parser = RawConfigParser(default_section="", interpolation=None)
    try:
        parser.read_string(read_whole(path).decode("utf-8"), path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise SourceError(
            Text("{source}: {path} cannot be read: {strerror}", source=source, path=path, strerror=error.strerror), source=source
        ) from None
    except (Error, UnicodeDecodeError) as error:
        raise SourceError(
            Text("{source}: {path} is damaged: {split}", source=source, path=path, split=" ".join(str(error).split())[:200]), source=source
        ) from None
    return parser


def _section(parser: RawConfigParser, name: str) -> dict[str, str]:
    """Return a section's settings; its name may stand in quotes."""
    found = next((section for section in parser.sections() if section.replace('"', "").replace("'", "").split() == name.split()), None)
    return {} if found is None else dict(parser.items(found))


def _endpoint(config: RawConfigParser, settings: Mapping[str, str]) -> str:
    """Return the server that the profile names for S3, or for all services."""
    if os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", settings.get("ignore_configured_endpoint_urls", "")).lower() == "true":
        return ""
    inner = _section(config, f"services {settings['services']}").get("s3", "") if settings.get("services") else ""
    nested = dict(line.replace(" ", "").split("=", 1) for line in inner.splitlines() if "=" in line)
    return nested.get("endpoint_url") or settings.get("endpoint_url", "")
