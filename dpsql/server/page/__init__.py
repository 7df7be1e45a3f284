"""The page: the files of this folder, served to anybody as they are. What they ask of the server needs a token.

index.html has the views, page.css the looks. Of the modules, main.js shows a view, signs in and out; api.js asks the server;
editor.js, completion.js and estimate.js are about a statement that is being written; result.js, chart.js and budget.js
about its answer; releases.js and owner.js are the other views; accounts.js and grants.js are what an owner changes; dom.js
and format.js make elements and texts.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def routes() -> list[Route]:
    """One for each file, and `/` for the page itself. The files are read once."""
    files = {path.name: path for path in resources.files(__package__).iterdir() if _suffix(path) in TYPES}
    return [_route("/", files.pop("index.html")), *(_route(f"/page/{name}", files[name]) for name in sorted(files))]


def _suffix(path: Traversable) -> str:
    return "." + path.name.rpartition(".")[2]


def _route(address: str, path: Traversable) -> Route:
    content, media = path.read_bytes(), TYPES[_suffix(path)]

    async def file(request: Request) -> Response:
        return Response(content, media_type=media)

    return Route(address, file, methods=["GET"])
