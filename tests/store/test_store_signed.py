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


def _key(folder: Path, name: str) -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.fixture
def sites(tmp_path: Path) -> tuple[sk.store.Store, sk.store.Store, str]:
    """Return two stores with one run that both have, and its id."""
    mine = sk.store.open(good(tmp_path / "mine"))
    theirs = sk.store.open(shutil.copytree(mine.path, tmp_path / "theirs"))
    return mine, theirs, mine.folder.run_ids()[0]


@needs_ssh_keygen
def test_a_retraction_counts_where_its_signer_is_trusted(
    sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path
) -> None:
    mine, theirs, run_id = sites
    friend, stranger = _key(tmp_path, "friend"), _key(tmp_path, "stranger")
    mine.trust("friend@lab.org", f"{friend}.pub")
    theirs.trust("stranger@web.org", f"{stranger}.pub")  # whom they trust is nobody's business here
    theirs.retract(run_id, "not to our liking", by="friend@lab.org", key=stranger)
    left = mine.merge(theirs.path)
    assert ([one.run_id for one in left.left], left.hidden, len(mine)) == ([run_id], (), 1)
    forged = theirs.folder.retracted()[0]
    theirs.restore(run_id, "it was fine", by="them")
    theirs.retract(run_id, "wrong clock", by="friend@lab.org", key=friend)
    lines = (theirs.path / "retracted.jsonl").read_text().replace("wrong clock", "right clock")
    changed = sk.store.open(shutil.copytree(theirs.path, tmp_path / "changed"))
    (changed.path / "retracted.jsonl").write_text(lines)
    assert mine.merge(changed.path).hidden == ()
    merged = mine.merge(theirs.path)
    assert [(one.run_id, one.reason) for one in merged.hidden] == [(run_id, "wrong clock")]
    assert mine.signer(mine.retractions()[0]) == "friend@lab.org"
    assert mine.signer(forged) == ""
    assert len(mine) == 0
    mine.restore(run_id, "their clock was right")
    assert (len(mine), mine.retractions(), len(mine.folder.retracted())) == (1, [], 2)
    assert mine.merge(theirs.path).hidden == ()
    assert len(mine) == 1


def test_restored_is_restored_in_whatever_order_it_is_said(sites: tuple[sk.store.Store, sk.store.Store, str]) -> None:
    mine, theirs, run_id = sites
    for reason in ("first", "second"):
        theirs.retract(run_id, reason)
        theirs.restore(run_id, f"not {reason}")
    said = theirs.folder.retracted()
    mine.folder.retract(said[::-1])
    assert len(mine) == len(theirs) == 1
    mine.retract(run_id, "third")
    assert len(mine) == 0
    with pytest.raises(UsageError, match=rf"^the run {run_id[:12]} is not retracted; there is nothing to restore\.$"):
        theirs.restore(run_id, "again")
    with pytest.raises(UsageError, match=r"^a restoration needs a reason; say why the run is right after all\.$"):
        mine.restore(run_id, " ")


@pytest.mark.slow
@needs_ssh_keygen
def test_runs_are_signed_on_the_command_line(
    sites: tuple[sk.store.Store, sk.store.Store, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs, run_id = sites
    key = _key(tmp_path, "key")
    assert main(["store", "sign", str(theirs.path), "--key", str(key), "--runs", run_id[:6]]) == 0
    (mine.path / "allowed_signers").write_text("# written by hand, without a last newline")
    assert main(["store", "trust", str(mine.path), "alice@lab.org", f"{key}.pub"]) == 0
    mine.merge(theirs.path)
    assert mine.signers() == {run_id: "alice@lab.org"}
    assert theirs.signers() == {}
    capsys.readouterr()
    assert main(["store", "verify", str(mine.path)]) == 0
    assert "  1 run signed by alice@lab.org." in capsys.readouterr().out.splitlines()
    (file,) = mine.folder.runs.iterdir()
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"measured"', b'"mEasured"'))
    assert main(["store", "verify", str(mine.path)]) == 1
    said = capsys.readouterr().out
    assert "0 runs as filed, 1 damaged or changed." in said
    assert "signed by" not in said
    file.write_bytes(content)
    lines = (mine.path / "signatures.jsonl").read_text()
    (theirs.path / "signatures.jsonl").write_text(3 * lines)
    (refused,) = sk.store.validate(theirs.path, policy=sk.store.Policy(max_retractions=2)).refused
    assert refused.refused == (("too-many-signatures", "there are 3 signatures; at most 2 are allowed."),)
    other = sk.store.open(tmp_path / "other")
    (new,) = other.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), machine="m").added
    (other.path / "signatures.jsonl").write_text(lines.replace(run_id, new))
    other.trust("alice@lab.org", f"{key}.pub")
    assert other.signers() == {}


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
        mine.trust("a b", f"{key}.pub")
    with pytest.raises(UsageError, match=r"^'.*key' is no public key of SSH; name a file such as "):
        mine.trust("a", key)
    with pytest.raises(UsageError, match=r"^cannot read '.*none': .*; name a public key\.$"):
        mine.trust("a", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    sentence = "signatures need the program ssh-keygen, which is not here; install OpenSSH (openssh-client)."
    with pytest.raises(StoreError, match=f"^{re.escape(sentence)}$"):
        mine.sign(key)
