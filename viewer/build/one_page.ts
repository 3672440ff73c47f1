// Puts the script and the style sheet into the page, so that one file is the whole viewer.
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
            let html = String(page.source);
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

function replaceTag(html: string, tag: RegExp, by: string, name: string): string {
    if (!tag.test(html)) throw new Error(`the page has no place for ${name}`);
    // By a function, because a string would have its dollar signs interpreted.
    return html.replace(tag, () => by);
}
