"""A sample ready to use: its catalog and its data side by side in a folder, as metadata/NAME.yaml and data/NAME/."""

from __future__ import annotations

from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.samples.generate import SAMPLES, generate

HERE = Path(__file__).parent


def catalog_text(name: str) -> str:
    """The sample's YAML: beside this module in an installed package, in metadata/ in a checkout."""
    for folder in (HERE / "metadata", HERE.parent.parent / "metadata"):
        path = folder / f"{name}.yaml"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise InterfaceError(f"the sample metadata {name}.yaml is missing", fix="install dpsql again")


def prepare(name: str, folder: Path) -> Path:
    """Write the catalog and the data of a sample below `folder`; answers the path of the YAML. Existing data stays."""
    if name not in SAMPLES:
        fix = f"choose one of {', '.join(SAMPLES)}"
        raise InterfaceError(f'there is no sample "{name}"', fix=fix)
    catalog = folder / "metadata" / f"{name}.yaml"
    catalog.parent.mkdir(parents=True, exist_ok=True)
    catalog.write_text(catalog_text(name), encoding="utf-8")
    if not (folder / "data" / name).is_dir():
        generate(name, folder / "data")
    return catalog
