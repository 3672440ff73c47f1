"""What way.py counts, in classes that were written for it."""

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

    def test_a_file_that_is_no_library_is_a_sentence(self):
        result = self.run_script("--layout", "nothing.so")
        self.assertEqual(result.returncode, 1)
        self.assertIn("way.py: gdb finds no layouts in nothing.so", result.stderr)


if __name__ == "__main__":
    unittest.main()
