"""Put the golden vectors of sampling, the changelog and CONTRIBUTING on the site.

They live outside of the folder of the documentation, where the tests and the release need them.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ELSEWHERE = {
    "vectors/decode.json": "tests/vectors/decode.json",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """MkDocs event: the files of the site are known."""
    root = Path(config.config_file_path).parent
    for name, source in ELSEWHERE.items():
        text = (root / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files
