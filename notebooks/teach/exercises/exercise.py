"""An exercise that checks itself: a question, hints step by step, and how often it was tried."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from exercises.answers import GrowthAnswer, NumberAnswer, Outcome, Unread, is_blank, shortened, text_of
from exercises.bundled import exercise_options
from exercises.ticks import GoalAnswer, session_in, ticks_or_goal
from scalkit.errors import UsageError

Kind = Literal["growth", "choice", "number", "ticks"]


class Answer(Protocol):
    """The right answer of an exercise."""

    def judge(self, given: object) -> Outcome:
        """Return the outcome for an answer; raise `Unread` if it cannot be read."""
        ...

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner says the same as `text`."""
        ...


class Exercise:
    """A question with its answer.

    Parameters
    ----------
    prompt : str
        What is asked, in plain text; what stands in backticks is shown as code.
    kind : {"growth", "choice", "number", "ticks"}
        What an answer is.
    answer : object
        A growth; the text of one of `choices`; a number; growths, or a mapping with the name of a goal, see
        `exercises.ticks`.
    hints : sequence of str
        Shown one after the other, each when asked for.
    choices : sequence of str
        For the kind ``"choice"``.
    tolerance : float
        For the kind ``"number"``: relative.
    unit : str
        For the kind ``"number"``: ``"s"``, ``"B"``, another word, or nothing.
    remarks : mapping from answer to text
        What to think about after a certain wrong answer.
    why : str
        Why the answer is right; shown once it was given.
    session : Session or something that shows one, optional
        What a goal is checked on if `check` is given nothing.
    name : str
        Short name, for tables.

    Raises
    ------
    UsageError
        If the exercise cannot be made of these.

    Notes
    -----
    The answer is kept in Python. It is in no representation, and what an answer of a learner says is never evaluated.
    """

    def __init__(
        self,
        prompt: str,
        kind: str = "growth",
        answer: object = None,
        *,
        hints: Sequence[str] = (),
        choices: Sequence[str] = (),
        tolerance: float = 0.0,
        unit: str = "",
        remarks: Mapping[str, str] | None = None,
        why: str = "",
        session: Any = None,
        name: str = "",
    ) -> None:
        self.prompt, self.kind, self.name = prompt, _kind(kind), name
        self.choices, self.unit, self.session = tuple(choices), unit, session
        self._answer = _answer(self.kind, answer, self.choices, tolerance, unit)
        self._hints, self._remarks, self._why = (hints,) if isinstance(hints, str) else tuple(hints), remarks or {}, why
        self.attempts, self.hints_used, self.is_solved = 0, 0, False
        self.outcome: Outcome | None = None
        self.listeners: list[Callable[[], object]] = []
        for wrong in self._remarks:
            _require_wrong(self._answer, wrong)

    @classmethod
    def load(cls, name: str, *, session: Any = None) -> "Exercise":
        """Return an exercise of the lessons; see `exercises.exercise_names`.

        Raises UsageError if there is none of that name.
        """
        return cls(**exercise_options(name), session=session, name=name)

    @property
    def looks_at_session(self) -> bool:
        """Whether an answer is a state of a session instead of a text."""
        return isinstance(self._answer, GoalAnswer)

    @property
    def n_hints(self) -> int:
        """Number of hints."""
        return len(self._hints)

    @property
    def hints(self) -> tuple[str, ...]:
        """Those that were asked for."""
        return self._hints[: self.hints_used]

    def check(self, given: object = None) -> Outcome:
        """Return the outcome for an answer; right and wrong ones count as attempts until one is right.

        `given`: text; a number, growth or growths will do, too. For a goal a session, by default the last one.
        """
        if self.looks_at_session:
            given = self.session = self.session if given is None else given
        found = self._judged(given)
        if found.kind != "unread" and not self.is_solved and (found.is_right or not _is_untouched(given)):
            self.attempts += 1
        if not is_blank(given) and (found.kind != "unread" or not self.is_solved):
            self.outcome = found
        self.is_solved = self.is_solved or found.is_right
        self._changed()
        return found

    def hint(self) -> str:
        """Return the next hint; the last one again when there are no more."""
        self.hints_used = min(self.hints_used + 1, self.n_hints)
        self._changed()
        return self._hints[self.hints_used - 1] if self._hints else "There is no hint for this one."

    @property
    def progress(self) -> str:
        """Numbers of attempts and hints, in words."""
        tried = f"{self.attempts} attempt{'' if self.attempts == 1 else 's'}"
        return f"{tried}, {self.hints_used} of {self.n_hints} hints" if self.n_hints else tried

    def _changed(self) -> None:
        for listener in self.listeners:
            listener()

    def _judged(self, given: object) -> Outcome:
        try:
            if given is None:
                raise Unread("There is no answer yet; give one, as in check('...').")
            if not self.looks_at_session and session_in(given) is not None:
                raise Unread("The answer is a text, not a session; give it in quotes.")
            found = self._answer.judge(given)
            remarks = (say for text, say in self._remarks.items() if self._answer.is_same(text, given))
            thought = self._why if found.is_right else next(remarks, "") or found.thought
        except Unread as error:
            return Outcome("unread", str(error))
        return Outcome(found.kind, thought, found.read_as, found.formula)

    def __repr__(self) -> str:
        listed = "".join(f"\n  {number}. {text}" for number, text in enumerate(self.choices, 1))
        said = f"\n{self.outcome!r}" if self.outcome is not None else ""
        how = "check(session)" if self.looks_at_session else "check('...')"
        return f"Exercise {self.name}: {self.prompt}{listed}\nAnswer with {how}; {self.progress}.{said}".replace(" :", ":", 1)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return a card in which answers are typed where notebooks show widgets, else the text."""
        bundle = {"text/plain": repr(self)}
        try:
            from exercises.card import card
        except ImportError:
            return bundle
        found = card(self)._repr_mimebundle_(**options)
        return {**(found or {}), **bundle}


def _is_untouched(given: object) -> bool:
    """Return whether this is a session in which nothing was done yet, as where all cells of a lesson are run at once."""
    session = session_in(given)
    return session is not None and not session.history


def _kind(kind: str) -> Kind:
    for one in get_args(Kind):
        if kind == one:
            return one  # type: ignore[no-any-return]
    raise UsageError(f"the kind of an exercise is {kind!r:.60}; it must be one of {', '.join(get_args(Kind))}.")


def _answer(kind: Kind, answer: object, choices: tuple[str, ...], tolerance: float, unit: str) -> Answer:
    if answer is None:
        raise UsageError("an exercise needs an answer; give one, as in answer='p*log(p)'.")
    if choices and kind != "choice":
        raise UsageError(f"an exercise of kind '{kind}' has no choices; leave them out, or make it kind='choice'.")
    if kind == "growth":
        return GrowthAnswer.of(answer)
    if kind == "choice":
        return ChoiceAnswer.of(answer, choices)
    if kind == "number":
        return NumberAnswer.of(answer, tolerance, unit)
    return ticks_or_goal(answer)


def _require_wrong(answer: Answer, wrong: str) -> None:
    try:
        is_right = answer.judge(wrong).is_right
    except Unread as error:
        raise UsageError(f"an exercise has a remark on {wrong!r:.60}, which is no answer: {error}") from error
    if is_right:
        raise UsageError(f"an exercise has a remark on {wrong!r:.60}, which is the right answer; say it in 'why'.")


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class ChoiceAnswer:
    """One of several texts. `choices`: in the order in which they are shown. `right`: one of them."""

    choices: tuple[str, ...]
    right: str

    @classmethod
    def of(cls, answer: object, choices: Sequence[str]) -> "ChoiceAnswer":
        """Return the answer, checked."""
        found = tuple(choices)
        if not 2 <= len(found) <= len(_LETTERS) or not all(isinstance(one, str) and one.strip() for one in found):
            raise UsageError(f"an exercise of kind 'choice' needs 2 to {len(_LETTERS)} texts as choices, got {len(found)}.")
        if len({one.casefold() for one in found}) < len(found):
            raise UsageError(f"the choices of an exercise must differ: {', '.join(found)!s:.200}.")
        if answer not in found:
            raise UsageError(f"the answer {answer!r:.60} of an exercise is none of its choices; give the text of one.")
        return cls(found, str(answer))

    def judge(self, given: object) -> Outcome:
        """Return whether a choice is the right one."""
        chosen = self._chosen(given)
        return Outcome("right" if chosen == self.right else "wrong", read_as=chosen)

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner is the choice in `text`."""
        return self._chosen(given) == text

    def _chosen(self, given: object) -> str:
        text = text_of(given).casefold()
        for number, (letter, one) in enumerate(zip(_LETTERS, self.choices, strict=False), 1):
            if text.rstrip(".)") in (str(number), letter) or text == one.casefold():
                return one
        raise Unread(f"'{shortened(text)}' is none of the choices; answer with a number from 1 to {len(self.choices)}.")
