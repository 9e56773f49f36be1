"""Who said so: runs and retractions that are signed, and whose signatures count."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hostile_submissions import good
from needs import needs_ssh_keygen

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import StoreError, UsageError
from scalkit.store.records import FILING


def _key(folder: Path, name: str) -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def _trusted(folder: Path, *names: str) -> tuple[Path, Path]:
    """Return a key and a list of signers that has it under several names."""
    key, signers = _key(folder, "key"), folder / "signers"
    for name in names:
        sk.store.trust(name, f"{key}.pub", signers=signers)
    return key, signers


@pytest.fixture
def sites(tmp_path: Path) -> tuple[sk.store.Store, sk.store.Store, str]:
    """Return two stores with one run that both have, and its id."""
    mine = sk.store.open(good(tmp_path / "mine"))
    theirs = sk.store.open(shutil.copytree(mine.path, tmp_path / "theirs"))
    return mine, theirs, mine.folder.run_ids()[0]


@needs_ssh_keygen
def test_signed_statements_count_before_unsigned_ones(sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path) -> None:
    _, theirs, run_id = sites
    friend, stranger = _key(tmp_path, "friend"), _key(tmp_path, "stranger")
    signers = tmp_path / "signers"
    sk.store.trust("friend@lab.org", f"{friend}.pub", signers=signers)
    mine = sk.store.open(tmp_path / "mine", signers=signers)
    mine.sign(friend, name="friend@lab.org")
    theirs.retract(run_id, "not to our liking", by="friend@lab.org", key=stranger)
    merged = mine.merge(theirs.path)
    assert ([one.run_id for one in merged.left], merged.hidden, len(mine)) == ([run_id], (), 1)
    with pytest.raises(UsageError, match=rf"^this retraction of the run {run_id[:12]} would not count: a signer whom you trust "):
        mine.retract(run_id, "wrong clock")
    mine.retract(run_id, "wrong clock", by="friend@lab.org", key=friend)
    assert [one["reason"] for one in mine.retractions()] == ["wrong clock"]
    with pytest.raises(UsageError, match=rf"^this restoration of the run {run_id[:12]} would not count: a signer whom you "):
        mine.restore(run_id, "it was right")
    theirs.merge(mine.path)
    assert [one["reason"] for one in theirs.retractions()] == ["wrong clock"]  # the latest, where nobody is trusted
    theirs.restore(run_id, "it was right")
    mine.merge(theirs.path)
    assert (len(theirs), len(mine)) == (1, 0)
    mine.restore(run_id, "it was right", by="friend@lab.org", key=friend)
    assert (len(mine), mine.retractions(), len(mine.folder.statements())) == (1, [], 4)


@needs_ssh_keygen
def test_a_signed_statement_cannot_be_changed(sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path) -> None:
    mine, _, run_id = sites
    key, signers = _trusted(tmp_path, "alice@lab.org", "bob@lab.org")
    mine.retract(run_id, "wrong clock", by="alice@lab.org", key=key)
    (statement,) = mine.folder.statements()
    reader = sk.store.open(mine.path, signers=signers)
    assert reader.is_trusted(statement)
    for name, text in (("reason", "right clock"), ("by", "bob@lab.org"), ("when", "2026-01-01T00:00:00Z"), ("restored", "yes")):
        assert not reader.is_trusted({**statement, name: text})


@needs_ssh_keygen
def test_a_signature_holds_for_one_record_and_one_name(sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path) -> None:
    mine, theirs, run_id = sites
    key, signers = _trusted(tmp_path, "alice@lab.org", "bob@lab.org")
    mine.sign(key, name="alice@lab.org")
    (signature,) = mine.folder.signatures()
    other = sk.store.open(tmp_path / "other", signers=signers)
    (new,) = other.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), machine="m").added
    other.folder.add_records("signatures", [{**signature, "run_id": new}])
    assert not other.signed()[new].is_trusted
    reader = sk.store.open(theirs.path, signers=signers)
    reader.folder.add_records("signatures", [{**signature, "signer": "bob@lab.org"}])
    assert not reader.signed()[run_id].is_trusted
    reader.folder.add_records("signatures", [signature])
    signature = reader.signed()[run_id]
    assert (signature.signer, signature.is_trusted) == ("alice@lab.org", True)


def test_restored_is_restored_in_whatever_order_it_is_said(sites: tuple[sk.store.Store, sk.store.Store, str]) -> None:
    mine, theirs, run_id = sites
    for reason in ("first", "second"):
        theirs.retract(run_id, reason)
        theirs.restore(run_id, f"not {reason}")
    mine.folder.add_records("statements", theirs.folder.statements()[::-1])
    assert len(mine) == len(theirs) == 1
    mine.retract(run_id, "third")
    assert len(mine) == 0
    with pytest.raises(
        UsageError, match=rf"^the run {run_id[:12]} is neither retracted nor flagged; there is nothing to restore\.$"
    ):
        theirs.restore(run_id, "again")
    with pytest.raises(UsageError, match=r"^a restoration needs a reason; say why the run is right after all\.$"):
        mine.restore(run_id, " ")


@pytest.mark.slow
@needs_ssh_keygen
def test_runs_are_signed_on_the_command_line(
    sites: tuple[sk.store.Store, sk.store.Store, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine, theirs, run_id = sites
    key, forger = _key(tmp_path, "key"), _key(tmp_path, "forger")
    signers = tmp_path / "signers"
    monkeypatch.setenv("SCALKIT_SIGNERS", str(signers))

    def verified() -> list[str]:
        capsys.readouterr()
        main(["store", "validate", str(mine.path)])
        return capsys.readouterr().out.splitlines()[1:]

    assert verified() == []
    mine.sign(forger, name="alice@lab.org")
    # A list that comes with a store is nobody's: only the reader's own counts.
    (mine.path / "allowed_signers").write_text(f"alice@lab.org {Path(f'{forger}.pub').read_text()}")
    unknown = (
        "  1 run signed under the name 'alice@lab.org' by nobody whom you trust; 'scalkit store trust alice@lab.org KEY.pub' "
        "lets a key of that name count."
    )
    ignored = "  the list of signers is ignored: only the reader's own list counts."
    assert verified() == [ignored, unknown]
    assert main(["store", "trust", "alice@lab.org", f"{key}.pub"]) == 0
    assert verified() == [ignored, unknown]
    words = ["store", "sign", str(theirs.path), "--key", str(key), "--name", "alice@lab.org", "--runs", run_id[:6]]
    assert main(words) == 0
    mine.merge(theirs.path)
    assert verified() == [ignored, "  1 run signed by alice@lab.org."]
    signers.write_text(signers.read_text().replace("alice", "alicf"))
    assert main(["store", "validate", str(mine.path)]) == 2
    assert re.search(r"line 1 of the list of signers '.*signers' does not fit its checksum; ", capsys.readouterr().err)


def test_too_many_signatures_are_refused(sites: tuple[sk.store.Store, sk.store.Store, str]) -> None:
    _, theirs, run_id = sites
    filing = dict.fromkeys(FILING, "")
    records = [{"run_id": run_id, "signer": f"signer{k}", "signature": "none", **filing} for k in range(3)]
    theirs.folder.add_records("signatures", records)
    (refused,) = sk.store.validate(theirs.path, policy=sk.store.Policy(max_statements=2)).refused
    assert refused.refused == (("too-many-signatures", "there are 3 signatures; at most 2 are allowed."),)


@needs_ssh_keygen
def test_what_cannot_be_signed_or_trusted(
    sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, _, run_id = sites
    key = _key(tmp_path, "key")
    with pytest.raises(UsageError, match=r"^cannot sign with '.*none': .*; name an SSH key, as ~/\.ssh/id_ed25519\.$"):
        mine.retract(run_id, "wrong", key=tmp_path / "none")
    assert mine.retractions() == []
    with pytest.raises(UsageError, match=r"^the signer 'a b' is no name; use letters, digits and @\._\+-, "):
        sk.store.trust("a b", f"{key}.pub", signers=tmp_path / "signers")
    with pytest.raises(UsageError, match=r"^'.*key' is no public key of SSH; name a file such as "):
        sk.store.trust("a", key, signers=tmp_path / "signers")
    with pytest.raises(UsageError, match=r"^cannot read '.*none': .*; name a public key\.$"):
        sk.store.trust("a", tmp_path / "none", signers=tmp_path / "signers")
    monkeypatch.setenv("PATH", str(tmp_path))
    sentence = "signatures need the program ssh-keygen, which is not here; install OpenSSH (openssh-client)."
    with pytest.raises(StoreError, match=f"^{re.escape(sentence)}$"):
        mine.sign(key)


@needs_ssh_keygen
def test_a_merge_says_which_runs_are_back_in_the_answers(
    sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path
) -> None:
    _, theirs, run_id = sites
    friend, signers = _key(tmp_path, "friend"), tmp_path / "signers"
    sk.store.trust("friend@lab.org", f"{friend}.pub", signers=signers)
    mine = sk.store.open(tmp_path / "mine", signers=signers)
    mine.retract(run_id, "wrong clock", by="me")
    theirs.sign(friend, name="friend@lab.org")
    merged = mine.merge(theirs.path)
    assert ([one.run_id for one in merged.shown], len(mine)) == ([run_id], 1)
    lines = str(merged).splitlines()
    assert lines[1] == "  1 run in the answers again, by what was said there:"
    assert lines[2].startswith(f"    {run_id[:12]} (good machine): 'wrong clock', by me, ")
