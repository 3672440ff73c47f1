// Puts the script and the style sheet into the page, so that one file is the whole viewer.
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** Where `braid export --html` puts a capture; docs/design/profile.md tells the same. */
export const dataMarker = "<!-- braid:data -->";

export function onePage(): Plugin {
    return {
        name: "one-page",
        apply: "build",
        enforce: "post",
        generateBundle(_options, bundle) {
            const page = bundle["index.html"];
            if (page?.type !== "asset") return;
            let html = String(page.source).replace("</head>", () => `${licences()}\n</head>`);
            for (const [name, part] of Object.entries(bundle)) {
                if (part.type === "chunk") {
                    // A closing tag inside a string of the script would end the script.
                    const code = part.code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
                    html = replaceTag(html, /<script[^>]*src="[^"]*"[^>]*><\/script>/, `<script type="module">\n${code.trim()}\n</script>`, name);
                } else if (name.endsWith(".css")) {
                    html = replaceTag(html, /<link rel="stylesheet"[^>]*>/, `<style>\n${String(part.source).trim()}\n</style>`, name);
                } else {
                    continue;
                }
                delete bundle[name];
            }
            if (html.split(dataMarker).length !== 2) {
                throw new Error(`the page must hold ${dataMarker} exactly once`);
            }
            page.source = html;
        },
    };
}

/** What is in the page from others, and under which terms; these want to be passed on with it. */
const packages = ["preact", "uplot", "@dagrejs/dagre", "@dagrejs/graphlib"];

function licences(): string {
    const texts = packages.map((name) => {
        const text = readFileSync(new URL(`../node_modules/${name}/LICENSE`, import.meta.url), "utf8");
        // Two dashes could end the comment.
        return `${name}\n\n${text.replace(/\r/g, "").replace(/--+/g, "-").trim()}`;
    });
    return `<!--\nThis page holds parts of these packages:\n\n${texts.join("\n\n")}\n-->`;
}

function replaceTag(html: string, tag: RegExp, by: string, name: string): string {
    if (!tag.test(html)) throw new Error(`the page has no place for ${name}`);
    // By a function, because a string would have its dollar signs interpreted.
    return html.replace(tag, () => by);
}
