"""A hub on 127.0.0.1 that speaks the Hub's protocol to the real huggingface_hub, datasets, evaluate and transformers.

They run in processes of their own, with HF_ENDPOINT and an empty HF_HOME (see conftest.py). Spoken are: whoami, create,
validate-yaml, preupload (with .gitignore), commit as ndjson, large files (batch, put, verify), repository info, tree,
paths-info, refs, tags, resolve with ranges and etags, pull requests. Not spoken: Xet, which
HF_HUB_DISABLE_XET=1 turns off.

Whose rules are these? The paths, fields and statuses are those that huggingface_hub 2.4 asks for and reads. What is
refused is ours, made after what its source and the Hub's pages say, and not recorded from the real Hub:
- of a card: metadata that are no YAML mapping, a Space's without `sdk`, and what a test puts into `hub.says_of_cards`.
  Of the real Hub are the answers in recorded_card_answers.py, which people reported: licenses, ids of datasets, places
  of `model-index`.
  The real validator knows more (its lists of licenses, languages, tasks); huggingface_hub has only its own classes for
  cards and for `.eval_results`, and tests/hub/test_cards_as_the_client_reads_them.py reads all of ours by those.
- of a commit: another parent than the branch's head (412), a large file that was not sent before (400).
- of a token: unknown (401), without the right to write to a namespace (403); a private repository is not there (404)
  for others, and without a token every unknown one asks for a token (401), as the client's errors tell of the Hub.
`.eval_results` and eval.yaml are not looked into here, as the real Hub would do.

Faults by switch: `hub.fail("POST", "/commit/", "lost")` processes the next such request and cuts the connection instead
of answering; "hold" processes it and never answers, as long as the test lasts; "cut" does not process it; "half" sends
half of the answer; a number is the status of an error; a function is called before the request is answered as ever:
what somebody else did meanwhile.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from tests.hub.hub_repositories import (
    LARGE,
    TYPES,
    Blob,
    Commit,
    PullRequest,
    Refused,
    Repository,
    Store,
    pointer,
)
from tests.hub.recorded_card_answers import answers

OVER = 10_000_000  # bytes: a larger file is a large file, whatever its name


Kind = int | str | Callable[[], object]


@dataclass
class Fault:
    """Of the next `times` requests whose method and path (a regular expression, found in the path) fit."""

    method: str
    path: str
    kind: Kind
    times: int
    headers: Mapping[str, str]


@dataclass
class Request:
    """One request: path without the query, still quoted."""

    method: str
    path: str
    query: Mapping[str, str]
    token: str | None
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body or b"{}")


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): each for name, each in headers.items()}}
    return Reply(json.dumps(value).encode(), status, sent)


class Hub:
    """The server's state and its answers. store: for tests to look at; requests: (method, path) as they came."""

    def __init__(self) -> None:
        self.store = Store()
        self.requests: list[tuple[str, str]] = []
        self.faults: list[Fault] = []
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.url = self.large_url = ""
        self.says_of_cards: list[str] = []

    def fail(self, method: str, path: str, kind: Kind, times: int = 1, **headers: str) -> None:
        """headers: of an answer that is an error (Retry_After="0")."""
        self.faults.append(Fault(method, path, kind, times, {k.replace("_", "-"): v for k, v in headers.items()}))

    def asked(self, method: str, path: str) -> int:
        """How many requests of such a path came."""
        return sum(each == method and bool(re.search(path, where)) for each, where in self.requests)

    def fault(self, request: Request) -> Fault | None:
        for each in self.faults:
            if each.times and each.method == request.method and re.search(each.path, request.path):
                each.times -= 1
                return each
        return None

    def answer(self, request: Request) -> Reply:
        try:
            with self.lock:
                return self._answer(request)
        except Refused as refused:
            code = {"X_Error_Code": refused.code} if refused.code else {}
            return as_json({"error": refused.message}, refused.status, **code, X_Error_Message=refused.message)

    def _answer(self, request: Request) -> Reply:
        if request.token is not None and request.token not in self.store.users:
            raise Refused(401, "Invalid credentials in Authorization header")
        method = "GET" if request.method == "HEAD" else request.method
        for route, verb, called in ROUTES:
            found = re.fullmatch(route, request.path)
            if found and verb == method:
                named = {name: unquote(value) for name, value in found.groupdict().items() if value is not None}
                if "id" not in named:
                    return called(self, request, **named)
                kind = named.pop("type", "models").rstrip("/").removesuffix("s")
                if kind not in TYPES:
                    raise Refused(404, f"no such kind of repository: {kind}")
                return called(self, request, self.store.get(kind, named.pop("id"), request.token), **named)
        raise Refused(404, f"this hub has no {request.method} {request.path}")

    def user(self, request: Request) -> str:
        if request.token is None:
            raise Refused(401, "Invalid username or password.")
        return self.store.users[request.token]

    def refuse_unless_writer(self, request: Request, namespace: str) -> None:
        self.user(request)
        if not self.store.may_write(request.token, namespace):
            raise Refused(403, f"you don't have the rights to write to the namespace {namespace}")

    # Of no repository

    def whoami(self, request: Request) -> Reply:
        user = self.user(request)
        orgs = [{"name": name} for name, members in self.store.organizations.items() if user in members]
        role = "read" if request.token in self.store.readers else "write"
        return as_json({"type": "user", "name": user, "orgs": orgs, "auth": {"accessToken": {"role": role}}})

    def create(self, request: Request) -> Reply:
        asked = request.json()
        namespace = asked.get("organization") or self.user(request)
        self.refuse_unless_writer(request, namespace)
        kind, id = asked.get("type") or "model", f"{namespace}/{asked['name']}"
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        url = f"{self.url}/{'' if kind == 'model' else kind + 's/'}{id}"
        if (kind, id) in self.store.repositories:
            return as_json({"error": f"You already created this {kind} repo", "url": url}, 409)
        self.store.create(kind, id, self.user(request), private, asked.get("sdk"))
        return as_json({"url": url, "name": id})

    def validate_yaml(self, request: Request) -> Reply:
        asked = request.json()
        try:
            data = card_data(asked["content"])
            errors = [*self.says_of_cards, *answers(data)]
            errors += ['"sdk" is required'] if asked["repoType"] == "space" and "sdk" not in data else []
        except yaml.YAMLError as error:
            data, errors = {}, [f"YAML: {error}"]
        if errors and request.headers.get("Accept") == "text/plain":  # of RepoCard.validate
            return Reply("\n".join(errors).encode(), 400, {"Content-Type": "text/plain"})
        if errors:
            return as_json({"errors": [{"message": each} for each in errors], "warnings": []}, 400)
        return as_json({"errors": [], "warnings": [] if data else [{"message": "empty or missing yaml metadata"}]})

    # Large files

    def batch(self, request: Request, repository: Repository) -> Reply:
        self.user(request)
        objects = []
        for each in request.json()["objects"]:
            told = {"oid": each["oid"], "size": each["size"]}
            if each["oid"] not in self.store.large_files:
                upload = {"href": f"{self.url}/large/{each['oid']}", "header": {}}
                told["actions"] = {"upload": upload, "verify": {"href": f"{self.url}/verify", "header": {}}}
            objects.append(told)
        return as_json({"transfer": "basic", "objects": objects})

    def put_large(self, request: Request, oid: str) -> Reply:
        if hashlib.sha256(request.body).hexdigest() != oid:
            raise Refused(400, "BadDigest: what came is not what was announced")
        self.store.large_files[oid] = request.body
        return Reply()

    def verify(self, request: Request) -> Reply:
        asked = request.json()
        if len(self.store.large_files.get(asked["oid"], b"")) != asked["size"]:
            raise Refused(404, "Object does not exist")
        return as_json({})

    def get_large(self, request: Request, oid: str) -> Reply:
        return ranged(request, self.store.large_files[oid], oid)

    # Commits

    def preupload(self, request: Request, repository: Repository, revision: str) -> Reply:
        self.user(request)
        _, commit = repository.at(revision)
        files = []
        for each in request.json()["files"]:
            large = each["path"].endswith(LARGE) or each["size"] > OVER
            known = commit.files.get(each["path"])
            oid = {"oid": known.etag} if known else {}
            mode, hidden = "lfs" if large else "regular", is_hidden(each["path"], commit)
            files.append({"path": each["path"], "uploadMode": mode, "shouldIgnore": hidden} | oid)
        return as_json({"files": files})

    def commit(self, request: Request, repository: Repository, revision: str) -> Reply:
        user = self.user(request)
        pull_request = request.query.get("create_pr") == "1"
        number = revision.removeprefix("refs/pr/")
        own = number != revision and repository.pull_requests[int(number) - 1].author == user
        if not pull_request and not own:
            self.refuse_unless_writer(request, repository.namespace)
        lines = [json.loads(line) for line in request.body.splitlines()]
        [header] = [line["value"] for line in lines if line["key"] == "header"]
        head, before = repository.at(revision)
        if header.get("parentCommit") and not head.startswith(header["parentCommit"]) and not pull_request:
            raise Refused(412, "A commit has happened since. Please refresh and try again.")
        files = dict(before.files)
        for line in lines:
            self._apply(line["key"], line["value"], files)
        done = Commit(files, head, header["summary"], user, header.get("description", ""))
        url = ""
        if pull_request:
            opened = repository.open_pull_request(header["summary"], user, head, header.get("description", ""))
            revision, url = f"refs/pr/{opened.num}", f"{page(self, repository)}/discussions/{opened.num}"
        oid = repository.add(done, revision)
        commit_url = f"{page(self, repository)}/commit/{oid}"
        told = {"success": True, "commitUrl": commit_url, "commitOid": oid}
        return as_json(told | ({"pullRequestUrl": url} if url else {}))

    def _apply(self, key: str, value: Mapping[str, Any], files: dict[str, Blob]) -> None:
        path = value.get("path", "")
        if key == "file":
            files[path] = Blob(base64.b64decode(value["content"]), False)
            if path == "README.md":
                card_data(files[path].content.decode())
        elif key == "lfsFile":
            if value["oid"] not in self.store.large_files:
                raise Refused(400, f"LFS pointer pointed to a file that does not exist: {path}")
            files[path] = Blob(self.store.large_files[value["oid"]], True)
        elif key == "deletedFile":
            if files.pop(path, None) is None:
                raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
        elif key == "deletedFolder":
            for each in [each for each in files if each.startswith(path.rstrip("/") + "/")]:
                files.pop(each)
        elif key != "header":
            raise Refused(400, f"unknown operation {key}")

    # What is there

    def info(self, request: Request, repository: Repository, revision: str = "main") -> Reply:
        oid, commit = repository.at(revision)
        blobs = request.query.get("blobs", "").lower() == "true"
        files = [
            {"rfilename": path} | (described(blob) if blobs else {}) for path, blob in sorted(commit.files.items())
        ]
        card = commit.files.get("README.md")
        first = next(iter(repository.commits.values()))
        told: dict[str, object] = {
            "_id": hashlib.sha1(repository.id.encode()).hexdigest()[:24], "id": repository.id,
            "author": repository.namespace, "sha": oid, "private": repository.private, "gated": False,
            "disabled": False, "downloads": 0, "likes": 0, "tags": [], "siblings": files, "usedStorage": 0,
            "createdAt": first.date, "lastModified": commit.date,
        }  # fmt: skip
        data = card_data(card.content.decode()) if card else {}
        told |= {"cardData": data} if data else {}
        told |= {"modelId": repository.id} if repository.type == "model" else {}
        told |= {"sdk": repository.sdk} if repository.sdk else {}
        return as_json(told)

    def tree(self, request: Request, repository: Repository, revision: str, path: str = "") -> Reply:
        oid, commit = repository.at(revision)
        within = path.rstrip("/") + "/" if path else ""
        below = {each: blob for each, blob in commit.files.items() if each.startswith(within)}
        if path and not below:
            raise Refused(404, f"{path} does not exist on {revision}", "EntryNotFound")
        last = {"id": oid, "title": commit.title, "date": commit.date}
        deep = request.query.get("recursive", "").lower() in ("true", "1")
        more = {"lastCommit": last} if request.query.get("expand", "").lower() in ("true", "1") else {}
        return as_json([each | more for each in entries(below, within, deep)], X_Repo_Commit=oid)

    def paths_info(self, request: Request, repository: Repository, revision: str) -> Reply:
        oid, commit = repository.at(revision)
        json_came = "json" in request.headers.get("Content-Type", "")
        form = request.json() if json_came else parse_qs(request.body.decode())
        expanded = "true" in str(form.get("expand")).lower()
        told: list[dict[str, object]] = []
        for path in form.get("paths", []):
            if path in commit.files:
                last = {"lastCommit": last_commit(repository, oid, path)} if expanded else {}
                told.append(file_entry(path, commit.files[path]) | last)
            elif any(each.startswith(path.rstrip("/") + "/") for each in commit.files):
                told.append(folder_entry(path.rstrip("/")))
        return as_json(told)

    def refs(self, request: Request, repository: Repository) -> Reply:
        def one(name: str, ref: str) -> dict[str, str]:
            return {"name": name, "ref": ref, "targetCommit": repository.refs[name]}

        names = [name for name in repository.refs if not name.startswith("refs/pr/")]
        told: dict[str, object] = {
            "branches": [one(name, f"refs/heads/{name}") for name in names if name not in repository.tags],
            "tags": [one(name, f"refs/tags/{name}") for name in names if name in repository.tags],
            "converts": [],
        }
        if "include_prs" in request.query:
            told["pullRequests"] = [one(name, name) for name in repository.refs if name.startswith("refs/pr/")]
        return as_json(told)

    def tag(self, request: Request, repository: Repository, revision: str) -> Reply:
        self.refuse_unless_writer(request, repository.namespace)
        name = request.json()["tag"]
        if name in repository.refs:
            raise Refused(409, f"Tag {name} already exists")
        repository.refs[name] = repository.at(revision)[0]
        repository.tags.add(name)
        return as_json({})

    def resolve(self, request: Request, repository: Repository, revision: str, path: str) -> Reply:
        oid, commit = repository.at(revision)
        blob = commit.files.get(path)
        if blob is None:
            return as_json({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound", X_Repo_Commit=oid)
        if not blob.large:
            reply = ranged(request, blob.content, blob.git_id)
            reply.headers["X-Repo-Commit"] = oid
            return reply
        told = {"X-Repo-Commit": oid, "X-Linked-Size": str(len(blob.content)), "X-Linked-Etag": f'"{blob.sha256}"'}
        return Reply(b"", 302, told | {"Location": f"{self.large_url}/large/{blob.sha256}"})

    # Pull requests

    def discussions(self, request: Request, repository: Repository) -> Reply:
        status, author = request.query.get("status"), request.query.get("author")
        found = [
            each
            for each in repository.pull_requests
            if author in (None, each.author)
            and (status in (None, "all") or (each.status in ("open", "draft")) == (status == "open"))
        ]
        told = [discussion(repository, each) for each in reversed(found)]
        start = 10 * int(request.query.get("p", "0"))
        return as_json({"discussions": told[start : start + 10], "count": len(told), "start": start})


def is_hidden(path: str, commit: Commit) -> bool:
    """Whether the repository's .gitignore hides it: by lines that are a name or a pattern of names, and no more."""
    ignored = commit.files.get(".gitignore")
    return ignored is not None and any(
        fnmatch.fnmatchcase(path.rpartition("/")[2], line) for line in ignored.content.decode().splitlines()
    )


def last_commit(repository: Repository, oid: str, path: str) -> dict[str, str]:
    """The one that brought the file as it is at the commit `oid`."""
    commit = repository.commits[oid]
    while commit.parent and repository.commits[commit.parent].files.get(path) == commit.files.get(path):
        oid, commit = commit.parent, repository.commits[commit.parent]
    return {"id": oid, "title": commit.title, "date": commit.date}


def page(hub: Hub, repository: Repository) -> str:
    """The repository's address for people."""
    return f"{hub.url}/{'' if repository.type == 'model' else repository.type + 's/'}{repository.id}"


def discussion(repository: Repository, each: PullRequest) -> dict[str, object]:
    return {
        "num": each.num, "title": each.title, "author": {"name": each.author}, "status": each.status,
        "createdAt": each.created, "isPullRequest": True, "repo": {"name": repository.id, "type": repository.type},
    }  # fmt: skip


def described(blob: Blob) -> dict[str, object]:
    size = len(blob.content)
    large = {"sha256": blob.sha256, "size": size, "pointerSize": len(pointer(blob.sha256, size))}
    return {"size": size, "blobId": blob.git_id} | ({"lfs": large} if blob.large else {})


def file_entry(path: str, blob: Blob) -> dict[str, object]:
    size = len(blob.content)
    large = {"oid": blob.sha256, "size": size, "pointerSize": len(pointer(blob.sha256, size))}
    return {"type": "file", "path": path, "oid": blob.git_id, "size": size} | ({"lfs": large} if blob.large else {})


def folder_entry(path: str) -> dict[str, object]:
    return {"type": "directory", "path": path, "oid": hashlib.sha1(path.encode()).hexdigest(), "size": 0}


def entries(files: Mapping[str, Blob], within: str, deep: bool) -> list[dict[str, object]]:
    """Of a folder, whose name ends `within`: folders first, each once."""
    folders, told = set(), []
    for path, blob in sorted(files.items()):
        above = path[len(within) :].split("/")[:-1]
        folders |= {
            within + "/".join(above[: depth + 1]) for depth in range(len(above) if deep else min(1, len(above)))
        }
        if deep or not above:
            told.append(file_entry(path, blob))
    return [*map(folder_entry, sorted(folders)), *told]


def card_data(text: str) -> dict[str, Any]:
    """A card's metadata. Raises YAMLError where they are no mapping."""
    found = re.match(r"---\r?\n(.*?)\r?\n---(\r?\n|$)", text, re.DOTALL)
    data = yaml.safe_load(found.group(1)) if found else {}
    if not isinstance(data, dict):
        raise yaml.YAMLError("the metadata are no mapping")
    return data


def ranged(request: Request, content: bytes, etag: str) -> Reply:
    """The content, or the range of it that was asked for."""
    headers = {"ETag": f'"{etag}"', "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    if not asked:
        return Reply(content, 200, headers)
    first, last = asked.groups()
    start = int(first) if first else max(0, len(content) - int(last))
    end = min(int(last), len(content) - 1) if first and last else len(content) - 1
    if start >= len(content):
        return Reply(b"", 416, headers | {"Content-Range": f"bytes */{len(content)}"})
    return Reply(content[start : end + 1], 206, headers | {"Content-Range": f"bytes {start}-{end}/{len(content)}"})


_API = r"/api/(?P<type>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"
_PAGE = r"/(?P<type>datasets/|spaces/)?(?P<id>[^/]+/[^/]+)"
Called = Callable[..., Reply]
ROUTES: tuple[tuple[str, str, Called], ...] = (
    (r"/api/whoami-v2", "GET", Hub.whoami),
    (r"/api/repos/create", "POST", Hub.create),
    (r"/api/validate-yaml", "POST", Hub.validate_yaml),
    (r"/large/(?P<oid>\w+)", "PUT", Hub.put_large),
    (r"/large/(?P<oid>\w+)", "GET", Hub.get_large),
    (r"/verify", "POST", Hub.verify),
    (_PAGE + r"\.git/info/lfs/objects/batch", "POST", Hub.batch),
    (_API, "GET", Hub.info),
    (_API + r"/revision/(?P<revision>[^/]+)", "GET", Hub.info),
    (_API + r"/tree/(?P<revision>[^/]+)(?:/(?P<path>.+))?", "GET", Hub.tree),
    (_API + r"/paths-info/(?P<revision>[^/]+)", "POST", Hub.paths_info),
    (_API + r"/refs", "GET", Hub.refs),
    (_API + r"/preupload/(?P<revision>[^/]+)", "POST", Hub.preupload),
    (_API + r"/commit/(?P<revision>[^/]+)", "POST", Hub.commit),
    (_API + r"/tag/(?P<revision>[^/]+)", "POST", Hub.tag),
    (_API + r"/discussions", "GET", Hub.discussions),
    (_PAGE + r"/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "GET", Hub.resolve),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body go apart: else each answer waits 40 ms
    hub: Hub

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else self._chunked()
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        request = Request(self.command, parts.path, query, token, self.headers, body)  # type: ignore[arg-type]
        with self.hub.lock:
            self.hub.requests.append((request.method, request.path))
            fault = self.hub.fault(request)
        if fault and fault.kind == "cut":
            return self._cut()
        if fault and isinstance(fault.kind, int):
            return self._send(as_json({"error": "a fault that was asked for"}, fault.kind, **fault.headers))
        if fault and callable(fault.kind):
            fault.kind()
            fault = None
        reply = self.hub.answer(request)
        if fault and fault.kind == "hold":
            self.hub.ended.wait()
        if fault and fault.kind in ("lost", "hold"):
            return self._cut()
        self._send(reply, half=bool(fault))

    def _chunked(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return b""
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _send(self, reply: Reply, half: bool = False) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body[: len(reply.body) // 2] if half else reply.body)
        if half:
            self._cut()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve

    def log_message(self, *_: object) -> None:
        """Nothing: `hub.requests` has them."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A cut connection is no error here; anything else would show as a request without an answer."""


@contextmanager
def serving(port: int = 0) -> Iterator[Hub]:
    """A hub of its own, until the block ends. port: a free one by default."""
    hub = Hub()
    server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    hub.large_url = f"http://localhost:{server.server_port}"  # the client follows redirects to the same host itself
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.ended.set()
        server.shutdown()
        server.server_close()
