"""The actions of `scalkit store` that are about trust: verify, sign, trust, retract and restore."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scalkit.text import counted, plain

if TYPE_CHECKING:
    from scalkit.store.store import Store

Action = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_statements(action: Action, opened: Callable[..., Store]) -> None:
    """Declare these actions; `action` adds one, with the store as its first argument, and `opened` opens that."""
    action(
        "verify",
        "is every file what was filed, down to the bit, and who signed it?",
        lambda args: _verify(args, opened(args)),
    )
    sign = action(
        "sign",
        "sign runs: scalkit store sign results --key ~/.ssh/id_ed25519",
        lambda args: _sign(args, opened(args, writes=True)),
    )
    sign.add_argument("--runs", nargs="+", metavar="RUN", help="ids of runs, or their beginnings (default: all)")
    sign.add_argument("--key", required=True, metavar="FILE", help="SSH key, as ~/.ssh/id_ed25519")
    trust = action(
        "trust",
        "let signatures of a key count: scalkit store trust results alice@lab.org alice.pub",
        lambda args: _trust(args, opened(args, writes=True)),
    )
    trust.add_argument("name", metavar="NAME", help="of the signer, as alice@lab.org")
    trust.add_argument("public_key", metavar="FILE", help="public key, as ~/.ssh/id_ed25519.pub")
    for verb, text, why in (
        ("retract", "take a run out of all answers", "what is wrong with it"),
        ("restore", "undo the retraction of a run", "why it is right after all"),
    ):
        say = action(verb, text, lambda args: _state(args, opened(args, writes=True)))
        say.add_argument("run_id", metavar="RUN", help="id of the run, or its beginning")
        say.add_argument("--reason", required=True, help=why)
        say.add_argument(
            "--key", metavar="FILE", help="SSH key to sign it with, so that it counts where you are trusted"
        )


def _verify(args: argparse.Namespace, store: Store) -> int:
    verified, signers = store.verify(), store.signers()
    lines = [str(verified)]
    lines += [f"  {counted(n, 'run')} signed by {name}." for name, n in sorted(Counter(signers.values()).items())]
    _print(args, {**verified.to_json(), "signers": signers}, "\n".join(lines))
    return 0 if verified.ok else 1


def _sign(args: argparse.Namespace, store: Store) -> int:
    found = store.sign(args.key, args.runs)
    return _print(args, {"signed": found}, f"signed {counted(len(found), 'run')}.")


def _trust(args: argparse.Namespace, store: Store) -> int:
    store.trust(args.name, args.public_key)
    return _print(args, {"trusted": args.name}, f"signatures of {args.name} count in {args.store}.")


def _state(args: argparse.Namespace, store: Store) -> int:
    full = store.resolve(args.run_id)
    (store.retract if args.action == "retract" else store.restore)(full, args.reason, key=args.key)
    done = f"{args.action}ed" if args.action == "retract" else "restored"
    return _print(args, {done: full, "reason": args.reason}, f"{done} {full}: {args.reason}")


def _print(args: argparse.Namespace, value: dict[str, Any], text: str) -> int:
    sys.stdout.write(plain(json.dumps(value, indent=2, ensure_ascii=False) if args.json else text) + "\n")
    return 0
