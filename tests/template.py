"""The template as the tests read it: plain YAML, intrinsic functions as CloudFormation's JSON."""

from pathlib import Path
from typing import Any

import yaml

TEMPLATE = Path(__file__).parents[1] / "template.yaml"


class _Loader(yaml.SafeLoader):
    """Knows the short forms of the intrinsic functions."""


def _intrinsic(loader: _Loader, name: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if name == "GetAtt":
            value = value.split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {name if name == "Ref" else f"Fn::{name}": value}


_Loader.add_multi_constructor("!", _intrinsic)


def template() -> dict[str, Any]:
    """Return the template that is deployed."""
    loaded: dict[str, Any] = _Loader(TEMPLATE.read_text()).get_single_data()
    return loaded
