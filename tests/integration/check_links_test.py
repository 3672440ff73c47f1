"""Plants pages and reads what check_links.py says about them."""

import unittest

from planted_tree import planted_tree


class check_links(planted_tree):
    script = "scripts/check_links.py"

    def setUp(self):
        super().setUp()
        self.write("docs/page.md", "# A page, with words\n")

    def expect_problem(self, where, word):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertTrue(result.stdout.startswith(where), result.stdout)
        self.assertIn(word, result.stdout)

    def test_links_that_lead_somewhere_pass(self):
        self.write("README.md", "[a](docs/page.md#a-page-with-words) [b](docs) [c](https://x.example)")
        self.write("docs/other.md", "[up](../README.md)\n```cpp\nauto f = [](int) {};\n```\n")
        self.assertEqual(self.run_script().returncode, 0)

    def test_a_link_to_nothing_is_named(self):
        self.write("docs/other.md", "\n[a](lost.md)")
        self.expect_problem("docs/other.md:2", "lost.md")

    def test_a_link_to_a_missing_heading_is_named(self):
        self.write("README.md", "[a](docs/page.md#another)")
        self.expect_problem("README.md:1", "#another")

    def test_a_feature_is_planned_or_shown(self):
        self.write("docs/features.md", "| C1 | a | planned |\n| C2 | b | [t](page.md) |\n")
        self.assertEqual(self.run_script().returncode, 0)
        self.write("docs/features.md", "| C1 | a | planned |\n| C2 | b | done, trust us |\n")
        self.expect_problem("docs/features.md: C2", "neither")

    def test_a_feature_stands_once(self):
        self.write("docs/features.md", "| C1 | a | planned |\n| C1 | b | planned |\n")
        self.expect_problem("docs/features.md: C1", "twice")


if __name__ == "__main__":
    unittest.main()
