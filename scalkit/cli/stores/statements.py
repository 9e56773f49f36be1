"""The actions of `scalkit store` that are about trust: verify, sign, trust, retract and restore."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from scalkit.text import counted, plain

if TYPE_CHECKING:
    from scalkit.store.store import Store


def verify(args: argparse.Namespace, store: Store) -> int:
    """Say whether every file is what was filed, and who signed it; return 1 if one is not."""
    verified, signers = store.verify(), store.signers()
    lines = [str(verified)]
    lines += [f"  {counted(n, 'run')} signed by {name}." for name, n in sorted(Counter(signers.values()).items())]
    _print(args, {**verified.to_json(), "signers": signers}, "\n".join(lines))
    return 0 if verified.ok else 1


def sign(args: argparse.Namespace, store: Store) -> int:
    """Sign runs."""
    found = store.sign(args.key, args.runs)
    return _print(args, {"signed": found}, f"signed {counted(len(found), 'run')}.")


def trust(args: argparse.Namespace, store: Store) -> int:
    """Let the signatures of a key count."""
    store.trust(args.name, args.public_key)
    return _print(args, {"trusted": args.name}, f"signatures of {args.name} count in {args.store}.")


def state(args: argparse.Namespace, store: Store) -> int:
    """Retract a run, or restore it."""
    full = store.resolve(args.run_id)
    (store.retract if args.action == "retract" else store.restore)(full, args.reason, key=args.key)
    done = f"{args.action}ed" if args.action == "retract" else "restored"
    return _print(args, {done: full, "reason": args.reason}, f"{done} {full}: {args.reason}")


def _print(args: argparse.Namespace, value: dict[str, Any], text: str) -> int:
    sys.stdout.write(plain(json.dumps(value, indent=2, ensure_ascii=False) if args.json else text) + "\n")
    return 0
