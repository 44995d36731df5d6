"""The template as the tests read it: plain YAML, intrinsic functions as CloudFormation's JSON."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

TEMPLATE = Path(__file__).parents[1] / "template.yaml"


class _Loader(yaml.SafeLoader):
    """Knows the short forms of the intrinsic functions."""


def _intrinsic(loader: _Loader, name: str, node: yaml.Node) -> dict[str, Any]:
    key = name if name == "Ref" else f"Fn::{name}"
    if isinstance(node, yaml.MappingNode):
        return {key: loader.construct_mapping(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return {key: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.ScalarNode)
    text = loader.construct_scalar(node)
    return {key: text.split(".", 1) if name == "GetAtt" else text}


_Loader.add_multi_constructor("!", _intrinsic)


# It takes a good part of a second to read.
@cache
def template() -> dict[str, Any]:
    """Return the template that is deployed."""
    loaded: dict[str, Any] = _Loader(TEMPLATE.read_text()).get_single_data()
    return loaded
