"""Every level of the hierarchy evaluates, bounds, composes and prints itself, and says where it holds."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import xarray as xr

from scalkit.errors import ExpectationError, UsageError
from scalkit.perfmodels import AsymptoticModel, BoundedModel, ExactModel, Range, RangeModel, bluegene_p, read_models, substitute

LINE = ExactModel("alpha + beta*S", {"alpha": "4 us", "beta": "2 ns/B"}, name="line")
TREE = ExactModel("alpha + tau*log2(P)", {"alpha": "13 us", "tau": "1 us"}, name="tree")
SHORT = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, {"S": ("1 B", "1 KiB")}, name="short")


def test_exact_model_is_evaluated_on_arrays_that_broadcast():
    model = LINE + TREE
    assert model(S=np.array([[0], [1000]]), P=np.array([2, 8])) == pytest.approx(
        np.array([[18e-6, 20e-6], [20e-6, 22e-6]]), rel=1e-12
    )
    assert model.bounds(S=0, P=2) == (model(S=0, P=2), model(S=0, P=2))


@pytest.mark.parametrize("size", ["64 KiB", 65536, xr.DataArray(64.0, attrs={"units": "KiB"})])
def test_sizes_come_with_units(size):
    assert float(LINE(S=size)) == pytest.approx(4e-6 + 65536 * 2e-9, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: LINE(S="3 us"), "S is '3 us'; it must be in B."),
        (lambda: LINE(S="3 parsec"), "S has the unit 'parsec'"),
        (lambda: TREE(P="3 B"), "P is '3 B'; it must be a number of processes."),
        (lambda: LINE(S=-1), "S = -1; it must be finite and not negative."),
        (lambda: LINE(S=[1, np.nan]), "S = nan; it must be finite and not negative."),
        (lambda: TREE(P=2.5), "P = 2.5; it must be a whole number."),
        (lambda: TREE(P=0), "'tree' holds for P >= 1, got P = 0; stay inside, or say outside='nan'."),
        (lambda: SHORT(S=2048), "'short' holds for S = 1 B to 1 KiB, got S = 2 KiB; stay inside, or say outside='nan'."),
        (lambda: LINE(), "'line' needs S; it depends on S."),
        (lambda: LINE(S=1, Q=2), "'line' does not depend on 'Q'; it depends on S."),
        (lambda: LINE(S=1, outside="zero"), "outside is 'zero'; choose 'error' or 'nan'."),
        (
            lambda: (LINE + TREE)(S=[1, 2, 3], P=[1, 2]),
            "the shapes do not fit together: S (3,), P (2,); make them equal, or broadcast them.",
        ),
        (
            lambda: (LINE + TREE)(S=xr.DataArray([1, 2], dims="size"), P=xr.DataArray([1, 2], dims="p")),
            "the values have the dimensions (p) and (size); give the arrays that xarray.broadcast returns for them.",
        ),
        (lambda: LINE(S="many"), "S is 'many'; write a number and a unit, for example '4.5 us' or '64 KiB'."),
        (lambda: LINE(S=["a"]), "S is \"['a']\"; give a number, a text such as '64 KiB', or an array."),
    ],
)
def test_wrong_values_are_refused(call, said):
    with pytest.raises(UsageError) as error:
        call()
    assert str(error.value).startswith(said.replace("S has the unit 'parsec'", "S has the unknown unit 'parsec'"))


def test_outside_of_the_valid_range_may_be_nan():
    found = SHORT(S=[0, 1, 1024, 1025], outside="nan")
    assert np.isnan(found).tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("formula", "constants", "said"),
    [
        ("a + b", {"a": "1 us", "b": "1 B"}, "the formula 'a + b' adds or compares"),
        ("log2(S)", {}, "the formula 'log2(S)' has B in 'log2(S)', where 1 belongs; check the units."),
        ("2^S", {}, "the formula '2^S' has B in 'S', where 1 belongs; check the units."),
        ("a*Q +", {"a": 1}, "cannot read the formula 'a*Q +'"),
        ("__import__('os')", {}, "the formula \"__import__('os')\" holds"),
        ("a.real", {"a": 1}, "the formula 'a.real' holds 'a.real'"),
        ("P/0", {}, "the formula 'P/0' holds 'P / 0'"),
        ("P^99", {}, "the formula 'P^99' holds 'P ** 99'"),
        ("(((2^64)^64)^64)^64*P", {}, "the formula '(((2^64)^64)^64)^64*P' holds '(2 ** 64) ** 64'"),
        ("max(P)", {}, "the formula 'max(P)' holds 'max(P)'"),
        ("T(S)", {}, "the formula 'T(S)' holds 'T(S)'"),
        ("sum(P, 0, 3, P)", {"P": 1}, "the formula 'sum(P, 0, 3, P)' sums over 'P'"),
        ("True*P", {}, "the formula 'True*P' holds 'True'"),
        ("P" * 700, {}, "a formula is a text of at most 600 characters"),
        ("+".join(["P"] * 290), {}, "the formula 'P+P+"),
        ("a", {"a": "1 us per B"}, "constant a is '1 us per B'; write a number and a unit"),
    ],
)
def test_formulas_that_make_no_sense_are_refused(formula, constants, said):
    with pytest.raises(UsageError) as error:
        ExactModel(formula, constants)
    assert str(error.value).startswith(said)


def test_powers_are_written_with_a_caret():
    assert ExactModel("t*P**2", {"t": "1 us"}).statement == "T(P) = 1.00 us * P^2"


def test_range_of_what_it_does_not_depend_on_is_refused():
    with pytest.raises(UsageError, match=r"^'P' has a range of S, on which it does not depend\.$"):
        ExactModel("P", valid={"S": (1, 2)})
    with pytest.raises(UsageError, match=r"^the range from 5 to 2 is empty; name the lower end first\.$"):
        ExactModel("P", valid={"P": (5, 2)})
    with pytest.raises(UsageError, match=r"^the range of P is 7; write its two ends, as in \('1 KiB', None\)\.$"):
        ExactModel("P", valid={"P": 7})


def test_a_model_may_be_independent_of_a_parameter():
    barrier = ExactModel("t", {"t": "0.95 us"}, also=["P"])
    assert barrier(P=[2, 4, 8]) == pytest.approx([0.95e-6] * 3)
    assert str(barrier.growth) == "1"


def test_asymptotic_model_has_a_growth_and_no_value():
    model = AsymptoticModel("log(P) + S", "Theta")
    assert model.kind == "asymptotic"
    assert str(model.growth) == "S + log(p)"
    assert model.bounds(S=1, P=2) == (0.0, np.inf)
    with pytest.raises(UsageError) as error:
        model(S=1, P=2)
    assert str(error.value) == (
        "'Theta(S + log(P))' is an asymptotic model and has no single value; ask for its bounds(...), or its ratio(...) "
        "between two settings."
    )
    assert AsymptoticModel("P*log(P)").ratio({"P": 16}, {"P": 4}) == pytest.approx(8.0)
    with pytest.raises(UsageError, match=r"^the notation is 'Q'; choose one of O, Theta, Omega, o\.$"):
        AsymptoticModel("P", "Q")
    with pytest.raises(ExpectationError):
        AsymptoticModel("factorial(P)")


def test_dominant_term_bounds_from_below():
    model = ExactModel("b*S", {"b": "4 ns/B"}) + AsymptoticModel("log(P)")
    assert model.kind == "dominant term"
    assert model.bounds(S=1000, P=8) == pytest.approx((4e-6, np.inf))
    assert str(model.growth) == "S + log(p)"
    assert model.statement == "T(S, P) = 4.00 ns/B * S + O(log(P))"
    assert str(model.to_sympy()) == "4.0e-9*S"


def test_bounded_model_has_two_sides():
    model = BoundedModel(LINE, 1.5 * LINE)
    assert model.bounds(S=1000) == pytest.approx((6e-6, 9e-6))
    with pytest.raises(UsageError, match="is a bounded model and has no single value"):
        model(S=1)
    with pytest.raises(UsageError, match="a bounded model needs a lower or an upper bound"):
        BoundedModel()
    with pytest.raises(UsageError, match="a bounded model needs a lower or an upper bound"):
        BoundedModel(LINE, ExactModel("P"))
    assert BoundedModel(upper=LINE).bounds(S=0) == (0.0, 4e-6)


def test_ranges_choose_the_model_of_each_value():
    model = RangeModel("S", [(Range(0, 10), LINE), (Range(20, 30), 2 * LINE)])
    assert model(S=[10, 20]) == pytest.approx([4.02e-6, 8.08e-6])
    assert np.isnan(model(S=[15, 31], outside="nan")).all()
    with pytest.raises(UsageError, match=r"has no piece at S = 15; it has S <= 10 B, S = 20 B to 30 B\.$"):
        model(S=15)
    with pytest.raises(UsageError, match=r"holds for S <= 30 B, got S = 31 B"):
        model(S=31)
    with pytest.raises(UsageError, match=r"^the ranges S <= 10 B and S >= 10 B overlap; let one end where the next begins\.$"):
        RangeModel("S", [(Range(0, 10), LINE), (Range(10), LINE)])
    with pytest.raises(UsageError, match="a model of ranges needs at least one piece"):
        RangeModel("S", [])


def test_ranges_of_bounds_are_bounded():
    band = RangeModel("P", [(Range(1, 8), TREE), (Range(8, open_low=True), BoundedModel(TREE, 3 * TREE))])
    assert band.kind == "bounded"
    assert band.bounds(P=16) == pytest.approx((17e-6, 51e-6))
    assert isinstance(band.to_sympy(), sympy.Tuple)


def test_sums_and_multiples():
    model = 2 * LINE + TREE
    assert model(S=1000, P=8) == pytest.approx((2 * 6 + 16) * 1e-6, rel=1e-12)
    assert sum([LINE, TREE])(S=0, P=2) == pytest.approx(18e-6)
    assert str(model.growth) == "S + log(p)"
    assert (LINE + AsymptoticModel("log(P)")).kind == "dominant term"
    assert (LINE + BoundedModel(LINE, 2 * LINE)).bounds(S=0) == pytest.approx((8e-6, 12e-6))
    factor = ExactModel("cbrt(P)", name="congestion")
    for wrong in (lambda: LINE * -1, lambda: LINE * "2", lambda: LINE * np.inf, lambda: True * LINE, lambda: LINE * LINE):
        with pytest.raises(UsageError, match=r"^the factor of .* is .*; a positive number is needed\.$"):
            wrong()
    with pytest.raises(UsageError, match=r"^what is added to 'line' cannot be '5 us'; give a model such as an ExactModel\.$"):
        LINE + "5 us"
    with pytest.raises(UsageError, match=r"^'congestion' is in 1, 'line' in s; add or subtract models of one unit\.$"):
        LINE + factor


def test_models_that_never_hold_together_are_not_added():
    late = ExactModel("a", {"a": "1 us"}, {"S": ("1 MiB", None)}, also=["S"])
    with pytest.raises(UsageError) as error:
        SHORT + late
    assert str(error.value) == ("the models have no S in common: one holds for S = 1 B to 1 KiB, one for S >= 1 MiB.")


def test_formulas_take_the_place_of_parameters():
    alltoall = ExactModel("g*(P - 1) + G*S*P", {"g": "1 us", "G": "1 ns/B"}, {"S": (None, "1 MiB")}, name="alltoall")
    fft = 2 * substitute(alltoall, {"b": "16 B"}, S="b*N^3/P^(3/2)", P="sqrt(P)")
    assert fft.parameters == ("P", "N")
    expected = 2 * (3e-6 + 1e-9 * (16 * 8**3 / 64) * 4)
    assert fft(N=8, P=16) == pytest.approx(expected, rel=1e-12)
    assert float(fft.to_sympy().subs({sympy.Symbol("N", positive=True): 8, sympy.Symbol("P", positive=True): 16})) == (
        pytest.approx(expected, rel=1e-12)
    )
    assert str(fft.growth) == "N^3/p + p^(1/2)"
    with pytest.raises(UsageError, match="holds for S <= 1 MiB, got S = "):
        fft(N=8192, P=4)
    assert np.isnan(fft(N=8192, P=4, outside="nan"))
    with pytest.raises(UsageError, match=r"^S = 'N\^3' is in 1; it must be in B\.$"):
        substitute(alltoall, S="N^3")
    with pytest.raises(UsageError, match=r"^'alltoall' does not depend on 'R'; it depends on S, P\.$"):
        substitute(alltoall, R="P")
    with pytest.raises(UsageError, match="name a parameter of 'alltoall' and a formula for it"):
        substitute(alltoall)


def test_symbols_and_numbers_say_the_same():
    model = 2 * LINE + TREE + RangeModel("S", [(Range(0, 256), LINE), (Range(256, open_low=True), 3 * LINE)])
    S, P = sympy.Symbol("S", positive=True), sympy.Symbol("P", positive=True)
    for size, processes in ((8, 2), (256, 64), (257, 1000)):
        value = float(model.to_sympy().subs({S: size, P: processes}))
        assert value == pytest.approx(model(S=size, P=processes), rel=1e-12)
    assert {symbol.name for symbol in model.to_sympy().free_symbols} == {"S", "P"}


def test_representations():
    assert repr(LINE) == "ExactModel('line': T(S) = 4.00 us + 2.00 ns/B * S)"
    assert str(2 * LINE) == "2 * (line): T(S) = 2 * (4.00 us + 2.00 ns/B * S)"
    assert AsymptoticModel("P", "Omega").statement == "T(P) = Omega(P)"
    assert BoundedModel(LINE, 2 * LINE).statement == "4.00 us + 2.00 ns/B * S <= T(S) <= 2 * (4.00 us + 2.00 ns/B * S)"
    html = ExactModel("a", {"a": "1 us"}, name="<b>&", source="<i>", also=["P"])._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>&" not in html
    assert "<i>" not in html
    assert "T(P) = 1.00 us" in html
    html = bluegene_p()._repr_html_()
    assert "T(S, P) = 13.0 us + 310 ns * log2(P) + 2.67 ns/B/6 * S" in html
    assert "f(P) = " in html, "a share of the bandwidth is no time"


def test_repr_of_every_model_of_the_catalogue_is_one_short_line():
    for name, model in bluegene_p().items():
        assert repr(model).startswith(f"{type(model).__name__}('{name}': ")
        assert len(repr(model)) < 200
        assert "\n" not in repr(model)


CATALOGUE = """
name = "mine"
[models.growth]
kind = "asymptotic"
growth = "S + log(P)"
[models.optimal]
kind = "dominant term"
known = { formula = "b*S", constants = { b = "4 ns/B" } }
rest = { kind = "asymptotic", growth = "log(P)" }
"""


def test_catalogues_are_read_from_files(tmp_path):
    file = tmp_path / "models.toml"
    file.write_text(CATALOGUE, encoding="utf-8")
    models = read_models(file)
    assert list(models) == ["growth", "optimal"]
    assert models["optimal"].bounds(S=1000, P=2).lower == pytest.approx(4e-6)
    with pytest.raises(UsageError, match=r"^the catalogue 'mine' has no model 'x'; it has growth, optimal\.$"):
        models["x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no 'models'; add a table [models.NAME]."),
        ("a = ", "this is not valid TOML: invalid value."),
        ("[models.m]\nkind = 'vague'", 'line 2: models.m.kind is "vague"; choose one of exact, ranges'),
        ("[models.m]\nformla = 'P'", "line 2: \"formla\" is unknown (did you mean 'formula'?)"),
        ("[models.m]\nconstants = {}", "line 1: there is no 'formula'; write a formula"),
        ("[models.m]\nformula = 'Q +'", "model 'm': cannot read the formula"),
        ("[models]\nm = 3", "line 2: models.m is 3; write a table of keys."),
        ("[models.m]\nformula = 'P'\nabove = '1'", 'line 3: models.m.above is "1"; write a table by parameter'),
        ("[models.m]\nformula = 'S'\nup_to = { S = '1 us' }", "model 'm': S is '1 us'; it must be in B."),
        ("[models.m]\nformula = 'S'\nup_to = { S = [1, 2] }", "line 3: models.m.up_to.S is [1, 2]; write one number"),
        ("[models.m]\nkind = 'ranges'\npieces = [3]", "line 3: models.m.pieces[0] is 3; write a table with a formula"),
        (
            "[models.m]\nkind = 'ranges'\npieces = [{ formula = 'S', up_to = '256 us' }]",
            "model 'm': S is '256 us'; it must be in B.",
        ),
        ("[models.m]\nformula = 'P'\nconstants = 3", "line 3: models.m.constants is 3; write a table of constants"),
        ("[models.m]\nformula = 'P'\nalso = [[1]]", "line 3: models.m.also[0] is [1]; write the name of a parameter."),
        ("[models.m]\nformula = 'P'\ncubes = 3", "line 3: models.m.cubes is 3; list parameters"),
        ("[models.m]\nkind = 'dominant term'", "there is no 'rest'; add the table 'rest', of kind 'asymptotic'."),
    ],
)
def test_catalogues_that_make_no_sense_are_refused(tmp_path, text, said):
    file = tmp_path / "models.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_models(file)
    assert said in str(error.value)
    with pytest.raises(UsageError, match="cannot read the catalogue"):
        read_models(tmp_path / "none.toml")


def test_bounds_that_cross_are_refused_with_their_range_or_are_not_there():
    crossing = BoundedModel(LINE, ExactModel("b*S", {"b": "4 ns/B"}), "bounds")
    with pytest.raises(UsageError) as error:
        crossing.bounds(S=[8, 1024, 4096])
    assert str(error.value) == (
        "the lower bound of 'bounds' is above its upper one for S = 8 B to 1 KiB, first 4.02 us above 32.0 ns; let both hold "
        "for fewer values, or say outside='nan'."
    )
    low, high = crossing.bounds(S=[8, 4096], outside="nan")
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == pytest.approx((4e-6 + 8.192e-6, 16.384e-6))
    with pytest.raises(UsageError, match=r"above its upper one for S = 8 B, P = 4, first"):
        BoundedModel(LINE + TREE, LINE).bounds(S=8, P=4)
    assert BoundedModel(LINE, LINE).bounds(S=8) == (LINE(S=8), LINE(S=8))


def test_a_composed_model_holds_where_all_of_its_parts_do():
    few = ExactModel("a*P", {"a": "1 us"}, {"P": (2, 64)}, name="few")
    small = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, {"S": (None, "4 MiB")}, name="small")
    by_size = RangeModel("S", [(Range(high=100), few), (Range(100, open_low=True), small)], "by size")

    def told(model):
        return [limits.text(name) for name, limits in sorted(model.valid.items())]

    assert told(SHORT + few) == ["P = 2 to 64", "S = 1 B to 1 KiB"]
    assert told(by_size) == ["P >= 1", "S <= 4 MiB"]
    assert told(by_size + SHORT + few) == ["P = 2 to 64", "S = 1 B to 1 KiB"]
    rest = AsymptoticModel("log(P)", valid={"P": Range(4, 8)})
    assert told(few + rest) == ["P = 4 to 8"]
    cubes, powers = (ExactModel("P", {}, {"P": Range(1, only=only)}) for only in ("cubes", "powers of two"))
    assert (cubes + powers)(P=[1, 8, 64]).tolist() == [2, 16, 128]
    for wrong in (27, 4):
        with pytest.raises(UsageError, match=rf"holds for P >= 1, powers of eight, got P = {wrong}"):
            (cubes + powers)(P=wrong)
    with pytest.raises(UsageError, match=r"^'small \+ few' holds for P = 2 to 64, got P = 65"):
        (small + few)(S=8, P=65)
