"""What scripts/mutate.sh would change, on small files, and what it says to wrong arguments."""

import contextlib
import io
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from planted_tree import ROOT, planted_tree

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import mutants  # noqa: E402  (its folder has been added)
import mutate  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S


def changes(text):
    """(kind, old, new) in the order of the text."""
    return [(m.kind, m.old, m.new) for m in mutants.source("a.cpp", text).mutants]


def changes_in(statements):
    return changes("void f() {\n" + statements + "\n}\n")


class conditions(unittest.TestCase):
    def negated(self, statements):
        return [old for kind, old, _ in changes_in(statements) if kind == "negated"]

    def test_are_negated_in_every_statement_that_has_one(self):
        self.assertEqual(self.negated("if (a == b) c();"), ["a == b"])
        self.assertEqual(self.negated("while (a) c();"), ["a"])
        self.assertEqual(self.negated("do { c(); } while (a);"), ["a"])
        self.assertEqual(self.negated("for (i = x; i < y; ++i) c();"), ["i < y"])
        self.assertEqual(self.negated("if (const int n = x(); n < y) c();"), ["n < y"])
        self.assertEqual(self.negated("return a == b;"), ["a == b"])
        self.assertEqual(self.negated("x = a < b ? c : d;"), ["a < b"])
        self.assertEqual(self.negated("f([&] { return a != b; });"), ["a != b"])
        self.assertEqual(self.negated('if (BRAID_EXPECT(h, a < b, "text")) c();'),
                         ['BRAID_EXPECT(h, a < b, "text")', "a < b"])  # fmt: skip

    def test_are_negated_by_the_operand(self):
        self.assertEqual(self.negated("if (a && f(b || c)) d();"), ["a", "f(b || c)"])
        self.assertIn(("negated", "b", "!(b)"), changes_in("while (a || b) c();"))

    def test_that_cannot_be_negated_are_left_alone(self):
        self.assertEqual(self.negated("while (true) c();"), [])
        self.assertEqual(self.negated("if (auto* p = c()) d(p);"), [])
        self.assertEqual(self.negated("for (int i : all) c(i);"), [])
        self.assertEqual(self.negated("if constexpr (a) c();"), [])
        self.assertEqual(self.negated("return c(a);"), [])
        self.assertEqual(self.negated("static_assert(a == b);"), [])


class statements(unittest.TestCase):
    def dropped(self, text):
        return [old for kind, old, _ in changes_in(text) if kind == "dropped"]

    def test_with_an_effect_are_dropped(self):
        for text in ("a = b", "a->b(c)", "*a = b", "++a", "a--", "a[b] += c", "d::e(f)", "(*a)(b)",
                     "a ? b() : c()", "break", "continue"):  # fmt: skip
            with self.subTest(text=text):
                self.assertEqual(self.dropped(f"while (x) {{ {text}; }}"), [text])

    def test_of_bodies_in_headers_classes_and_lambdas_are_found(self):
        self.assertEqual(
            [old for kind, old, _ in changes(
                "namespace n { struct s : t {\n"
                "    s(int x) : a(x), b{x} { c(); }\n"
                "    auto d() const noexcept -> int { e(); }\n"
                "    int g = 0;\n"
                "};\n"
                "template <class T> void h() { i([&] { j(); }); } }\n"
            ) if kind == "dropped"],
            ["c()", "e()", "i([&] { j(); })", "j()"],
        )  # fmt: skip

    def test_that_leave_a_function_are_dropped_where_they_guard(self):
        self.assertEqual(self.dropped("if (a) return; b(); return c;"), ["return", "b()"])
        self.assertEqual(self.dropped("if (a) { b(); } else return;"), ["b()", "return"])

    def test_that_declare_or_order_memory_or_only_cost_time_are_kept(self):
        for text in ("int a = b()", "const auto a = b", "foo a(b)", "std::mutex m", "using a = b",
                     "static_assert(a)", "std::atomic_thread_fence(seq_cst)", "throw a(b)",
                     "active_policy::relax()", 'static_cast<void>(b(a))'):  # fmt: skip
            with self.subTest(text=text):
                self.assertEqual(self.dropped(text + ";"), [])


class constants(unittest.TestCase):
    def moved(self, text):
        return [(old, new) for kind, old, new in changes(text) if kind == "moved"]

    def test_move_by_one_or_by_a_factor(self):
        self.assertEqual(mutants.moved("0"), ["1"])
        self.assertEqual(mutants.moved("64U"), ["63U", "65U"])
        self.assertEqual(mutants.moved("0xff"), ["254", "256"])
        self.assertEqual(mutants.moved("50'000"), ["25000", "100000"])
        self.assertEqual(mutants.moved("1.5"), [])

    def test_of_statements_and_of_constexpr_move(self):
        self.assertEqual(self.moved("void f() { a(1); }"), [("1", "0"), ("1", "2")])
        self.assertEqual(self.moved("void f() { return true; }"), [("true", "false")])
        self.assertEqual(self.moved("constexpr int a = 0;"), [("0", "1")])
        self.assertEqual(self.moved("void f() { return a[0]; }"), [("0", "1")])

    def test_of_declarations_do_not_move(self):
        for text in ("struct a { int b = 1; };", "enum a { b = 1 };", "int c[4];",
                     "static_assert(sizeof(int) == 4);", "void f(int a = 1);",
                     "void f() { char text[200]; }"):  # fmt: skip
            with self.subTest(text=text):
                self.assertEqual(self.moved(text), [])


class what_is_no_code(unittest.TestCase):
    def test_is_left_alone(self):
        self.assertEqual(
            changes(
                "#include <a.hpp>\n#define F(x) if (x) \\\n    f(1)\n// if (a) b();\n/* c(2); */\n"
                'void f() { const char* a = "if (b) c(3);"; const char d = \'4\'; }\n'
                'const char* e = R"(f(5);)";\n'
            ),
            [],
        )
        self.assertEqual(len(changes_in('log("%d a(1);", b); // c(2);')), 1)

    def test_names_of_memory_orders_are_left_alone(self):
        text = "if (a.load(acquire) != 0) a.store(1, std::memory_order_release);"
        for kind, old, new in changes_in(text):
            self.assertEqual(old.count("acquire"), new.count("acquire"))
            self.assertTrue("release" not in old or kind == "dropped")

    def test_brackets_that_do_not_match_are_reported(self):
        with self.assertRaises(mutants.unreadable):
            changes("void f() { (")


class drawing(planted_tree):
    script = "scripts/mutate.py"

    def setUp(self):
        super().setUp()
        self.write("src/core/run/a.cpp", "int f(int a) {\n    if (a == 1) a = 2;\n    return a;\n}\n")
        self.write("include/braid/fork_join/b.hpp", "inline void g() { h(); }\n")
        self.write("src/base/c.cpp", "void i() { j(); }\n")

    def drawn(self, seed, count=99):
        result = self.run_script(str(seed), str(count), "--list")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()

    def test_names_place_and_change(self):
        lines = sorted(line.split(maxsplit=1)[1] for line in self.drawn(1))
        self.assertEqual(
            lines,
            [
                "include/braid/fork_join/b.hpp:1: dropped: h()",
                "src/core/run/a.cpp:2: dropped: a = 2",
                "src/core/run/a.cpp:2: moved: 1 -> 0 in if (a == 1) a = 2;",
                "src/core/run/a.cpp:2: moved: 1 -> 2 in if (a == 1) a = 2;",
                "src/core/run/a.cpp:2: moved: 2 -> 1 in if (a == 1) a = 2;",
                "src/core/run/a.cpp:2: moved: 2 -> 3 in if (a == 1) a = 2;",
                "src/core/run/a.cpp:2: negated: a == 1",
            ],
        )

    def test_a_seed_is_a_list_and_a_shorter_one_its_beginning(self):
        self.assertEqual(self.drawn(1), self.drawn(1))
        self.assertEqual(self.drawn(1, 3), self.drawn(1)[:3])
        self.assertGreater(len({tuple(self.drawn(seed)) for seed in range(1, 6)}), 1)

    def test_each_changes_just_its_place(self):
        text = (self.root / "src/core/run/a.cpp").read_text()
        for change in mutate.draw(self.root, 1):
            if change.file == "src/core/run/a.cpp":
                changed = change.apply(text)
                self.assertNotEqual(changed, text)
                self.assertEqual(changed[: change.start], text[: change.start])
                self.assertTrue(changed.endswith(text[change.end :]))

    def test_wrong_arguments_get_one_sentence(self):
        for arguments in ([], ["1"], ["0", "1"], ["1", "-1"], ["x", "1"], ["1", "1", "--only", "0"],
                          ["1", "1", "--fast"]):  # fmt: skip
            with self.subTest(arguments=arguments):
                result = self.run_script(*arguments)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertTrue(result.stderr.startswith("mutate.sh: "), result.stderr)


class shop_without_compiler(mutate.workshop):
    """Judges by chance; each tenth does not compile."""

    def __init__(self, survivors):
        super().__init__(ROOT)
        self.survivors, self.asked = survivors, 0

    def judge(self, change):
        self.asked += 1
        if self.asked % 10 == 0:
            return "no mutant", ""
        self.survivors -= 1
        return ("survived", "") if self.survivors >= 0 else ("killed", "a test")


class results(unittest.TestCase):
    def run_campaign(self, survivors):
        drawn = [
            mutants.mutant("src/core/a.cpp", n, "dropped", 0, 1, "x", "", "x;") for n in range(100)
        ]
        results, self.printed = [], io.StringIO()
        with contextlib.redirect_stdout(self.printed):
            mutate.campaign(shop_without_compiler(survivors), drawn, 40, None, results)
            status = mutate.report(results, 40)
        return results, status

    def test_what_does_not_compile_is_not_counted(self):
        tried, _ = self.run_campaign(0)
        self.assertEqual([outcome for outcome, _ in tried], ["killed"] * 40)
        self.assertEqual(self.printed.getvalue().count("no mutant"), 4)

    def test_more_than_a_tenth_of_survivors_fails(self):
        self.assertEqual(self.run_campaign(4)[1], 0)
        self.assertEqual(self.run_campaign(5)[1], 1)
        self.assertRegex(self.printed.getvalue(), r"all +35 +5 +0\n")


class logs(unittest.TestCase):
    def log(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "log"
        path.write_text(text)
        return mutate.test_log(path)

    over = "[ RUN      ] A.b/0\n[       OK ] A.b/0 (1500 ms)\n"

    def test_tell_which_test_runs(self):
        self.assertIsNone(self.log("").running())
        self.assertIsNone(self.log(self.over).running())
        self.assertEqual(self.log(self.over + "[ RUN      ] A.c/0\nsaid\n").running(), "A.c/0")

    def test_tell_which_test_failed_or_was_there_when_the_program_ended(self):
        failed = "[ RUN      ] A.c/0\n[  FAILED  ] A.c/0, where GetParam() = 0 (3 ms)\n"
        self.assertEqual(self.log(self.over + failed).failed(), "A.c/0")
        self.assertEqual(self.log(self.over + "[ RUN      ] A.d\n").failed(), "A.d")

    def test_tell_how_long_each_took(self):
        self.assertEqual(self.log(self.over).durations(), {"A.b/0": 1.5})


class shop_of_results(mutate.workshop):
    """Its tests end as planned: a list of (status, culprit) for all of them, and for one alone."""

    def __init__(self, all_of_them, alone):
        super().__init__(ROOT)
        self.plan, self.alone, self.asked = iter(all_of_them), alone, []
        self.seconds = {"core": 1}

    def test(self, module, seconds=0, only=(), without=(), repeats=1, patience=None):
        if repeats != 1:
            return self.alone
        self.asked.append((list(only), list(without)))
        status, self.culprit = next(self.plan)
        return status


class judging(unittest.TestCase):
    def test_first_the_likely_tests_and_then_the_others(self):
        shop = shop_of_results([(0, None), (0, None)], 0)
        self.assertEqual(shop.notice("core", ["A.b"]), "survived")
        self.assertEqual(shop.asked, [(["A.b"], []), ([], ["A.b"])])

    def test_a_test_that_fails_or_hangs_also_alone_is_enough(self):
        for status, outcome in ((1, "killed"), (None, "timed out")):
            shop = shop_of_results([(status, "A.b")], 1)
            self.assertEqual(shop.notice("core", ["A.b"]), outcome)
            self.assertEqual(shop.culprit, "A.b")

    def test_one_that_passes_alone_is_left_out_and_the_others_go_on(self):
        shop = shop_of_results([(1, "A.b"), (0, None), (0, None)], 0)
        self.assertEqual(shop.notice("core", ["A.b", "A.c"]), "survived")
        self.assertEqual(shop.asked[1], (["A.b", "A.c"], ["A.b"]))

    def test_tests_named_like_the_file_and_the_latest_killers_are_likely(self):
        shop = mutate.workshop(ROOT)
        shop.files = {"core": {"A.b": "queue", "C.d": "ready_queue", "E.f": "wait", "G.h": "task"}}
        shop.killers = ["G.h", "X.y"]
        self.assertEqual(shop.most_likely("core", "src/core/queue.cpp"), ["G.h", "A.b"])
        self.assertEqual(shop.most_likely("core", "src/core/wait/search.cpp"), ["G.h", "E.f"])


class children(unittest.TestCase):
    def test_are_ended_at_the_limit_with_what_they_started(self):
        group = mutate.processes()
        command = ["sh", "-c", "sleep 600 & echo $!; wait"]
        started = []
        original = group.start
        group.start = lambda *a, **k: started.append(original(*a, **k)) or started[-1]
        status = group.run([(command, {"stdout": subprocess.PIPE})], 0.5)
        self.assertIsNone(status)
        sleeper = int(started[0].stdout.readline())
        started[0].stdout.close()
        # It was ended, but who ended it is not its parent: the system takes it away in a moment.
        limit = time.monotonic() + HANG_LIMIT_S
        while not self.is_gone(sleeper) and time.monotonic() < limit:
            time.sleep(0.01)
        self.assertTrue(self.is_gone(sleeper))

    def is_gone(self, number):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    def test_one_that_fails_ends_the_others(self):
        group = mutate.processes()
        self.assertEqual(group.run([(["sleep", "600"], {}), (["sh", "-c", "exit 3"], {})], 60), 3)
        self.assertEqual(group.running, [])

    def test_a_crash_is_a_failure(self):
        command = ["sh", "-c", "kill -SEGV $$"]
        self.assertEqual(mutate.processes().run([(command, {})], 60), -signal.SIGSEGV)


if __name__ == "__main__":
    unittest.main()
