"""The fixture itself, by the real client: what it must hold for tests of publishing to mean something."""

import hashlib

SPOKEN = """
import huggingface_hub as h
from huggingface_hub import CommitOperationAdd as Add, CommitOperationDelete as Delete
api = h.HfApi()
assert api.whoami()["name"] == "ann"
url = api.create_repo("lab/words", repo_type="dataset", private=True)
assert url.repo_id == "lab/words", url
api.create_repo("lab/words", repo_type="dataset", exist_ok=True)
large = bytes(range(256)) * 40
files = {"README.md": b"---\\nlicense: mit\\n---\\nhello", "data/a/test.parquet": large, "empty.txt": b""}
adds = lambda files: [Add(path, content) for path, content in files.items()]
made = api.create_commit("lab/words", adds(files), commit_message="first", repo_type="dataset")
info = api.dataset_info("lab/words", files_metadata=True)
assert info.sha == made.oid and info.card_data.license == "mit" and info.private
tree = {each.path: each for each in api.list_repo_tree("lab/words", repo_type="dataset", recursive=True)}
assert set(tree) == {".gitattributes", "README.md", "data", "data/a", "data/a/test.parquet", "empty.txt"}
assert len(list(api.list_repo_tree("lab/words", "data", repo_type="dataset"))) == 1
assert tree["data/a/test.parquet"].lfs.sha256 == __import__("hashlib").sha256(large).hexdigest()
assert [each.path for each in api.get_paths_info("lab/words", ["README.md", "none", "data"], repo_type="dataset")] == [
    "README.md", "data"]
api.create_tag("lab/words", tag="v1", repo_type="dataset")
assert [each.name for each in api.list_repo_refs("lab/words", repo_type="dataset").tags] == ["v1"]
for revision in ("v1", "main", made.oid):
    path = api.hf_hub_download("lab/words", "data/a/test.parquet", repo_type="dataset", revision=revision)
    assert open(path, "rb").read() == large
fs = h.HfFileSystem()
assert fs.cat_file("datasets/lab/words/data/a/test.parquet", start=10, end=20) == large[10:20]
pr = api.create_commit("lab/words", adds({"README.md": b"better"}), commit_message="better", repo_type="dataset",
                       create_pr=True)
assert pr.pr_revision == "refs/pr/1"
api.create_commit("lab/words", [Delete("empty.txt")], commit_message="more", repo_type="dataset",
                  revision="refs/pr/1")
[found] = api.get_repo_discussions("lab/words", repo_type="dataset", discussion_type="pull_request", author="ann")
assert (found.num, found.status, found.title) == (1, "open", "better")
assert api.file_exists("lab/words", "empty.txt", repo_type="dataset")
assert not api.file_exists("lab/words", "empty.txt", repo_type="dataset", revision="refs/pr/1")
try:
    late = adds({"x": b"1"})
    api.create_commit("lab/words", late, commit_message="late", repo_type="dataset", parent_commit="0" * 40)
except h.errors.HfHubHTTPError as error:
    assert error.response.status_code == 412
else:
    raise AssertionError("a wrong parent was taken")
for called, wanted in (
    (lambda: api.dataset_info("lab/none"), h.errors.RepositoryNotFoundError),
    (lambda: api.dataset_info("lab/words", revision="v9"), h.errors.RevisionNotFoundError),
    (lambda: api.hf_hub_download("lab/words", "none", repo_type="dataset"), h.errors.EntryNotFoundError),
    (lambda: h.HfApi(token="hf_" + "b" * 34).dataset_info("lab/words"), h.errors.RepositoryNotFoundError),
    (lambda: h.HfApi(token="hf_wrong").whoami(), h.errors.HfHubHTTPError),
    (lambda: api.create_repo("bob/mine"), h.errors.HfHubHTTPError),
):
    try:
        called()
    except wanted:
        pass
    else:
        raise AssertionError(wanted)
"""


def test_the_real_client_creates_commits_reads_and_is_refused(hub, python):
    done = python(SPOKEN)
    assert done.code == 0, done.err
    repository = hub.store.repositories["dataset", "lab/words"]
    assert set(repository.files) == {".gitattributes", "README.md", "data/a/test.parquet", "empty.txt"}
    large = hub.store.repositories["dataset", "lab/words"].files["data/a/test.parquet"]
    assert list(hub.store.large_files) == [hashlib.sha256(large).hexdigest()]
    repository.merge(repository.pull_requests[0])
    assert repository.files["README.md"] == b"better"
    assert "empty.txt" not in repository.files


FAULTS = """
import huggingface_hub as h
api = h.HfApi()
for kind in ("lost", "cut", "500", "429"):
    api.create_repo(f"ann/{kind}")
    try:
        api.create_commit(f"ann/{kind}", [h.CommitOperationAdd("a.txt", b"1")], commit_message="one")
    except Exception:
        pass
    else:
        raise AssertionError(kind)
for again in range(2):
    api.create_commit("ann/lost", [h.CommitOperationAdd("b.txt", b"1")], commit_message="two", create_pr=True)
"""


def test_faults_are_what_their_names_say_and_the_trap_is_there(hub, python):
    """The client doesn't ask again for a commit; "lost" is there all the same. Two that open pull requests open two."""
    for kind in ("lost", "cut", 500, 429):
        hub.fail("POST", f"/{kind}/commit/", kind)
    done = python(FAULTS)
    assert done.code == 0, done.err
    repositories = hub.store.repositories
    assert [len(repositories["model", f"ann/{kind}"].commits) for kind in ("cut", "500", "429")] == [1, 1, 1]
    assert "a.txt" in repositories["model", "ann/lost"].files
    assert all(hub.asked("POST", f"/{kind}/commit/") == 1 for kind in ("cut", 500, 429))
    assert len(repositories["model", "ann/lost"].pull_requests) == 2
