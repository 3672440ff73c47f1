"""What way.py counts, in classes that were written for it."""

import subprocess
import sys
import unittest

from planted_tree import ROOT, planted_tree

sys.path.insert(0, str(ROOT / "scripts"))

import way  # noqa: E402

CORE = {
    "src/core/low.hpp": """
struct low_room {
    int first() const { return 1; }
    void second(int a);
};
""",
    "src/core/middle.hpp": """
class middle_room : public low_room {
public:
    middle_room();
    ~middle_room();
    middle_room& operator=(const middle_room&) = delete;
    using low_room::first;
    friend void stranger(int);
    void take(int a) { second(a); }  // a forwarder
    void take(int a, int b) { second(a + b); }

protected:
    int give(int a, int b = 0) noexcept { return helper(a, b); }

private:
    void hidden();
    int value_ BRAID_GUARDED_BY(mutex_);
};
""",
    "src/core/runtime.hpp": """
class runtime : public middle_room {
    void hidden_too();

public:
    static runtime* create();
    template <class F>
    void each(F&& f) {
        for (int i = 0; i < 3; ++i) f(i);
    }
    bool operator==(const runtime& other) const;
};
""",
}


LAYOUT = """
namespace braid { inline namespace v0 { namespace detail {
struct low_room { long first; static int shared; };
struct runtime : low_room { char second[56]; int third; } whole;
struct whole_seat { int number; } seat;
}}}
"""


class count(planted_tree):
    script = "scripts/way.py"

    def setUp(self):
        super().setUp()
        for path, text in CORE.items():
            self.write(path, text)
        self.files = way.code_of_core(self.root)

    def test_the_chain_goes_from_the_top_to_the_class_without_a_base(self):
        chain = way.chain_of(self.files, "runtime")
        self.assertEqual([name for name, _ in chain], ["runtime", "middle_room", "low_room"])

    def test_within_reach_is_what_others_may_call(self):
        reach = {name: list(way.functions_of(name, body))
                 for name, body in way.chain_of(self.files, "runtime")}
        self.assertEqual(reach["low_room"], ["first", "second"])
        self.assertEqual(reach["middle_room"], ["take", "take", "give"])
        self.assertEqual(reach["runtime"], ["create", "each", "operator=="])

    def test_a_forwarder_passes_its_own_parameters_on_and_does_nothing_else(self):
        found = list(way.forwarders_in(self.files["src/core/middle.hpp"]))
        self.assertEqual(found, ["take", "give"])

    def test_an_annotation_is_counted_by_the_line(self):
        self.assertEqual(way.annotations_in(self.root), 1)

    def test_it_prints_each_tour_and_the_core(self):
        self.write("docs/architecture.md", "```tour one\na src/core/low.hpp\nb src/b.cpp\n```\n")
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.splitlines(), [
            "one: 2 files, 2 openings, 0 returns",
            "runtime: 3 classes, each the base of the one before; 8 functions within reach",
            "2 forwarders",
            "1 annotations of locks",
        ])

    def test_what_is_missing_is_a_sentence(self):
        text = self.root / "text.so"
        self.write("text.so", "no library\n")
        for arguments, sentence in (((), f"there is no file {self.root}/docs/architecture.md."),
                                    (("--layout", "nothing.so"), "there is no file nothing.so."),
                                    (("--layout", str(text)), f"gdb finds no layouts in {text}: ")):
            result = self.run_script(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith("way.py: " + sentence), result.stderr)
            self.assertNotIn("Traceback", result.stderr)

    def test_a_layout_names_each_field_with_its_class_and_cache_line(self):
        self.write("a.cpp", LAYOUT)
        built = self.root / "a.o"
        subprocess.run(["g++", "-g", "-c", str(self.root / "a.cpp"), "-o", str(built)], check=True)
        result = self.run_script("--layout", str(built))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line.split() for line in result.stdout.splitlines()], [
            ["runtime:", "72", "bytes"],
            ["line", "0"], ["0", "8", "low_room::first"], ["8", "56", "runtime::second"],
            ["line", "1"], ["64", "4", "runtime::third"],
            ["whole_seat:", "4", "bytes"],
            ["line", "0"], ["0", "4", "whole_seat::number"],
        ])


if __name__ == "__main__":
    unittest.main()
